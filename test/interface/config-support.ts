import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../config/error.js';
import { loadConfig } from '../../config/load.js';
import type { HoldfastConfig } from '../../contracts/config.js';

/** Loads a document from a folder of its own, with more files beside it. */
export function load(toml: string, env: Record<string, string> = {}, files: Record<string, string> = {}): HoldfastConfig {
  const cwd = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
  try {
    for (const [name, content] of Object.entries({ 'holdfast.toml': toml, ...files })) writeFileSync(join(cwd, name), content);
    return loadConfig({ cwd, env });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** The message of the `ConfigError` that loading throws. */
export function problemOf(toml: string, env: Record<string, string> = {}, files: Record<string, string> = {}): string {
  return messageOf(() => load(toml, env, files));
}

export function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** A small configuration that is right; tests break one thing of it. */
export const RIGHT = `
[models.default]
provider = "offline"
[agents.main]
instructions = "Help."
children = ["helper"]
effects = ["reserve"]
[agents.helper]
instructions = "Check."
[effects.reserve]
type = "http"
url = "http://127.0.0.1:9100/reservations"
input_schema = { type = "object", properties = { date = { type = "string" } } }
[effects.reserve.idempotency]
[effects.reserve.lookup]
url = "http://127.0.0.1:9100/reservations?key={key}"
[app]
default_agent = "main"
`;

/** `RIGHT` with one piece of text replaced; the piece must be there. */
export function broken(piece: string, replacement: string): string {
  if (!RIGHT.includes(piece)) throw new Error(`the right configuration does not hold ${piece}`);
  return RIGHT.replace(piece, () => replacement);
}
