import { z } from 'zod';
import type { ConfigProblem } from './error.js';
import { suggestion } from './nearest.js';
import { showValue } from './show.js';

const TYPE_WORDS: Record<string, string> = {
  string: 'text', number: 'a number', int: 'a whole number', boolean: 'true or false', object: 'a table', record: 'a table', array: 'a list',
};

/** Keys of the specification that this version does not know yet: an honest answer instead of a guess at a typing error. */
const LATER = new Set([
  'judge', 'guardrails', 'review', 'observability', 'long_term_memory', 'summary_schema', 'store_states',
  'failure_mode', 'history', 'summarize', 'summarize_threshold', 'max_history_tokens', 'persist_trim_keep_groups', 'prompt_context_mode', 'auto_record_request',
  'state_backend',
]);

/**
 * Checks a value against a schema and reports every problem in plain words: key, value, what is allowed (I5).
 * `shown` is the value as the person wrote it, before any replacement.
 */
export function check<T>(schema: z.ZodType<T>, value: unknown, where: string, shown: unknown = value): { data: T } | { problems: ConfigProblem[] } {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return { data: result.data };
  return { problems: result.error.issues.flatMap((issue) => problemsOf(issue, schema, where, shown)) };
}

function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    // A whole number calls itself "number" here when it was given text.
    const wanted = words(issue.inst instanceof z.ZodNumber && issue.inst.format === 'safeint' ? 'int' : issue.expected);
    return issue.input === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}`;
  }
  if (issue.code === 'invalid_value') {
    const allowed = (issue.values as unknown[]).map((item) => JSON.stringify(item)).join(', ');
    return `${issue.input === undefined ? 'is missing; ' : ''}allowed: ${allowed}`;
  }
  if (issue.code === 'invalid_union' && Array.isArray(issue['options'])) {
    const given = below(issue.input, String(issue['discriminator']));
    return `${given === undefined ? 'is missing; ' : ''}allowed: ${issue['options'].map((item) => JSON.stringify(item)).join(', ')}`;
  }
  if (issue.code === 'too_small') return `must be at least ${String(issue.minimum)}${unit(issue.origin)}`;
  if (issue.code === 'too_big') return `must be at most ${String(issue.maximum)}${unit(issue.origin)}`;
  return undefined;
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType, where: string, shown: unknown): ConfigProblem[] {
  const key = dotted(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, issue.path, shown);
    return issue.keys.map((name) => ({ where, key: dotted([...issue.path, name]), message: unknownKey(name, known) }));
  }
  if (issue.code === 'invalid_key') return [{ where, key, message: `this name is not allowed: ${issue.issues[0]?.message ?? ''}` }];
  const value = issue.path.reduce(below, shown);
  return [{ where, key: key === '' ? '(file)' : key, value: showValue(key, value), message: issue.message }];
}

function unknownKey(name: string, known: string[]): string {
  if (LATER.has(name)) return 'is not available in this version';
  return `unknown key${suggestion(name, known)}`;
}

/** Keys that the schema allows at a path, found through its JSON Schema. */
function knownKeys(schema: z.ZodType, path: PropertyKey[], shown: unknown): string[] {
  let at = shown;
  let node: z.core.JSONSchema.BaseSchema | undefined = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  for (const part of path) {
    const next: unknown = typeof part === 'number' ? node?.items : (node?.properties?.[String(part)] ?? node?.additionalProperties);
    node = typeof next === 'object' && next !== null && !Array.isArray(next) ? variant(next as z.core.JSONSchema.BaseSchema, at = below(at, part)) : undefined;
  }
  return Object.keys(node?.properties ?? {});
}

function below(value: unknown, part: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined;
}

/** The one of several shapes that the value's `type` chooses. */
function variant(node: z.core.JSONSchema.BaseSchema, value: unknown): z.core.JSONSchema.BaseSchema {
  const type = below(value, 'type');
  return (node.oneOf as z.core.JSONSchema.BaseSchema[] | undefined)?.find((shape) => below(below(below(shape, 'properties'), 'type'), 'const') === type) ?? node;
}

function dotted(path: PropertyKey[]): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${quoted(String(part))}`)).join('');
}

/** A hostile key must not break the message into lines. */
function quoted(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : JSON.stringify(name.slice(0, 64).toWellFormed());
}

function words(expected: unknown): string {
  return TYPE_WORDS[String(expected)] ?? String(expected);
}

function unit(origin: unknown): string {
  return origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '';
}
