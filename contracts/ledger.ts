import { z } from 'zod';
import { jsonSchema } from './json.js';
import { soundText } from './text.js';

/** States of a ledger entry (D10). `reconciled` carries its verified outcome in `outcome`. */
export const ledgerStateSchema = z.enum([
  'pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'reconciled', 'cancelled', 'conflict',
]);
export type LedgerState = z.infer<typeof ledgerStateSchema>;

export const entryKindSchema = z.enum(['model', 'child', 'summary', 'effect', 'input']);
export type EntryKind = z.infer<typeof entryKindSchema>;

/**
 * How one physical call ended: `open` (no answer known), `succeeded`, `rejected` (the target said no),
 * `not_sent` (no byte reached the target), `uncertain` (it may have had its effect), `absent` (a look-up proved
 * that it had none).
 */
export const callOutcomeSchema = z.enum(['open', 'succeeded', 'rejected', 'not_sent', 'uncertain', 'absent']);
export type CallOutcome = z.infer<typeof callOutcomeSchema>;

/** What a look-up said. `inconclusive` is never read as absent (D13). */
export const lookupVerdictSchema = z.enum(['found', 'absent', 'inconclusive']);
export type LookupVerdict = z.infer<typeof lookupVerdictSchema>;

/** A ledger entry as JSON, as the CLI and HTTP print it (document 5). Times are ISO 8601 in UTC. */
export const ledgerEntrySchema = z.object({
  key: z.string(),
  turnId: z.string(),
  kind: entryKindSchema,
  effect: z.string().describe('Name of the effect, child or model alias'),
  state: ledgerStateSchema,
  outcome: z.enum(['succeeded', 'failed']).nullable().describe('Verified outcome of a reconciled entry'),
  version: z.number().int().describe('Grows with every change; settle names the version that was seen'),
  generation: z.number().int().describe('Fencing token: grows with every dispatch'),
  externalId: z.string().nullable(),
  args: jsonSchema,
  result: z.string().nullable(),
  reason: z.string().nullable(),
  attempts: z.array(z.object({ physicalCallId: z.string(), at: z.string(), outcome: callOutcomeSchema, note: z.string().nullable() })),
  evidence: z.array(z.object({ at: z.string(), by: z.string(), found: lookupVerdictSchema.nullable(), note: z.string() })),
});
export type LedgerEntryView = z.infer<typeof ledgerEntrySchema>;

export const settlementSchema = z.strictObject({
  version: z.number().int().min(0),
  outcome: z.enum(['succeeded', 'failed', 'retry']),
  externalId: soundText(500).min(1).optional(),
  reason: soundText(2000).trim().min(1, 'a reason is required'),
});
export type Settlement = z.infer<typeof settlementSchema>;
