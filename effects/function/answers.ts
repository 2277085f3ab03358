import { z } from 'zod';
import type { Json } from '../../contracts/json.js';
import { clampMessage, MAX_RETRY_AFTER_MS } from '../../domain/failure.js';
import { readId, toJson } from '../answer-json.js';
import { jsonResult } from '../http/body.js';
import type { LookupResult, PerformResult } from '../types.js';

const message = z.string().transform(clampMessage);
const retryAfterMs = z.number().min(0).max(MAX_RETRY_AFTER_MS).nullish().transform((ms) => ms ?? null);
const externalId = z.unknown().optional().transform((id, context) => readOwnId(id, () => context.addIssue('the external id must be text of at most 500 characters, or a whole number')));
const result = z.unknown().optional().transform((value, context): Json => {
  const json = toJson(value ?? null);
  if (json === undefined) context.addIssue('the result must be plain JSON');
  return json === undefined ? null : jsonResult(json);
});

const performSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('succeeded'), externalId, result }),
  z.object({ kind: z.literal('rejected'), message, result }),
  z.object({ kind: z.literal('conflict'), message }),
  z.object({ kind: z.literal('not_sent'), message, retryAfterMs }),
  z.object({ kind: z.literal('uncertain'), message, retryAfterMs }),
]);

const lookupSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('found'), externalId, result, note: message }),
  z.object({ kind: z.literal('absent'), note: message }),
  z.object({ kind: z.literal('inconclusive'), note: message }),
]);

/** What `perform` returned, checked, bounded and fit for storage. An answer that cannot be read leaves the outcome open (D10). */
export function readPerformed(value: unknown): PerformResult {
  const read = parse(performSchema, value);
  return read.ok ? read.data : { kind: 'uncertain', message: clampMessage(`perform returned something unusable: ${read.problem}`), retryAfterMs: null };
}

/** What `lookup` returned; an answer that cannot be read is inconclusive, never absent (D13). */
export function readLookedUp(value: unknown): LookupResult {
  const read = parse(lookupSchema, value);
  return read.ok ? read.data : { kind: 'inconclusive', note: clampMessage(`lookup returned something unusable: ${read.problem}`) };
}

function parse<T>(schema: z.ZodType<T>, value: unknown): { ok: true; data: T } | { ok: false; problem: string } {
  try {
    const read = schema.safeParse(value);
    if (read.success) return { ok: true, data: read.data };
    const [issue] = read.error.issues;
    return { ok: false, problem: [issue?.path.join('.') ?? '', issue?.message ?? ''].filter((part) => part !== '').join(': ') };
  } catch {
    return { ok: false, problem: 'it cannot be read' };
  }
}

function readOwnId(id: unknown, refuse: () => void): string | null {
  if (id === undefined || id === null) return null;
  const read = readId({ id: id as Json }, 'id');
  if (read === null) refuse();
  return read;
}
