import { z } from 'zod';
import { QUERY_WORDS, sqlProblem, STATEMENT_WORDS } from './sql-template.js';

/**
 * Values that appear in several sections of `holdfast.toml`. `kind` in the metadata is the type that
 * `docs/configuration.md` shows.
 */

/** Name of an environment variable; a secret itself never stands in the file (I5). */
export const envNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be the name of an environment variable, never the secret itself')
  .meta({ kind: 'variable name' });

/** A header name, as HTTP allows it. */
export const headerNameSchema = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of an HTTP header').meta({ kind: 'header name' });

/** Text that is shown to a model or a person; never blank. */
export const textSchema = z.string().trim().min(1, 'must not be blank').max(100_000);

/** Path of a file, relative to the configuration file. */
export const pathSchema = z.string().min(1, 'must not be empty').meta({ kind: 'path' });

/** An address of a server. Placeholders are not allowed in it. */
export const urlSchema = z.string().check((context) => report(context, urlProblem(context.value) ?? placeholderProblem(context.value, []))).meta({ kind: 'URL' });

/** An address in which `{key}` and `{args.NAME}` may stand after the host. */
export const urlTemplateSchema = z
  .string()
  .check((context) => report(context, urlProblem(context.value) ?? placeholderProblem(context.value, ['key', 'args'])))
  .meta({ kind: 'URL with {key}, {args.NAME}' });

/** One SQL statement in which `{key}` and `{args.NAME}` stand for parameters; it may not end the transaction that it runs in (D18). */
export const sqlStatementSchema = sqlSchema(STATEMENT_WORDS);

/** One SQL query that only reads, with the same placeholders (D21, D25). */
export const sqlQuerySchema = sqlSchema(QUERY_WORDS);

function sqlSchema(firstWords: string[]) {
  return textSchema.check((context) => report(context, sqlProblem(context.value, firstWords))).meta({ kind: 'SQL with {key}, {args.NAME}' });
}

/** Placeholders of an address, without the braces. */
export function placeholdersOf(url: string): string[] {
  return Array.from(url.matchAll(/\{([^{}]*)\}/g), (match) => match[1] ?? '');
}

/** The host is fixed: arguments that a model wrote must never choose the server that is called. */
function urlProblem(text: string): string | null {
  if (!/^https?:\/\/[^/?#{}\s]+([/?#]\S*)?$/.test(text) || !URL.canParse(text)) return 'must be an address that starts with http:// or https://, without spaces';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password; name the secret with headers_env or api_key_env';
  return null;
}

function placeholderProblem(url: string, allowed: ('key' | 'args')[]): string | null {
  const wrong = placeholdersOf(url).find((name) => !(allowed.includes('key') && name === 'key') && !(allowed.includes('args') && /^args\.[^.]+$/.test(name)));
  if (wrong === undefined) return /[{}]/.test(url.replaceAll(/\{[^{}]*\}/g, '')) ? 'holds a brace without its partner' : null;
  return allowed.length === 0 ? `must not hold the placeholder {${wrong}}` : `holds the unknown placeholder {${wrong}}; allowed are {key} and {args.NAME}`;
}

function report(context: { value: string; issues: z.core.$ZodRawIssue[] }, problem: string | null): void {
  if (problem !== null) context.issues.push({ code: 'custom', input: context.value, message: problem });
}
