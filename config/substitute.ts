import type { ConfigProblem } from './error.js';
import { maySecret } from './show.js';

export type Env = Readonly<Record<string, string | undefined>>;

const ADDRESS_KEYS = new Set(['url', 'base_url']);
/** Tables whose keys are not ours: an argument called "url" is not an address of the configuration. */
const OPAQUE_KEYS = new Set(['input_schema', 'expect', 'rules', 'headers_env', 'policy']);

/**
 * Replaces `${NAME}` and `${NAME:-default}` in `url` and `base_url` by environment variables; an empty variable counts as
 * unset. A variable that is missing without a default, or that by its name holds a secret (addresses are stored and shown), is a problem.
 */
export function substitute(raw: Record<string, unknown>, env: Env, where: string): { value: Record<string, unknown>; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const walk = (table: Record<string, unknown>, path: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(table).map(([key, item]) => {
      const here = path === '' ? key : `${path}.${key}`;
      if (typeof item === 'string' && ADDRESS_KEYS.has(key)) return [key, replaceNames(item, env, (message) => problems.push({ where, key: here, message }))];
      return [key, isTable(item) && !OPAQUE_KEYS.has(key) ? walk(item, here) : item];
    }));
  return { value: walk(raw, ''), problems };
}

function replaceNames(text: string, env: Env, report: (message: string) => void): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback: string | undefined) => {
    if (maySecret(name)) report(`the variable ${name} looks like a secret, and addresses are stored and shown; use headers_env or api_key_env`);
    const value = env[name] || fallback;
    if (value === undefined) report(`the environment variable ${name} is not set and has no default; set it or write \${${name}:-default}`);
    return value ?? '';
  });
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
