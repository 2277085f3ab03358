import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { ConfigError } from './error.js';

/** A document as read, before any check. `dir` is the folder that paths in it are relative to; `file` is what messages call it. */
export interface RawDocument {
  file: string;
  dir: string;
  raw: Record<string, unknown>;
}

/** Reads the TOML file. Throws `ConfigError` when it is missing, unreadable or not TOML (with line and column). */
export function readDocument(file: string, cwd: string): RawDocument {
  const path = isAbsolute(file) ? file : resolve(cwd, file);
  return { file, dir: dirname(path), raw: parseToml(file, readText(path, file, 'the file')) };
}

/** Text of a file that the configuration names. Throws `ConfigError` with the key that named it. */
export function readText(path: string, where: string, key: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new ConfigError([{ where, key, message: readProblem(error, path) }]);
  }
}

function readProblem(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return `there is no ${path}; create it or name another one (the configuration itself with --config FILE)`;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return `the file ${path} is not UTF-8 text`;
  return `the file ${path} cannot be read (${code})`;
}

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Only the first line: the rest of the message quotes the file, which may hold a misplaced secret.
    const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? '';
    throw new ConfigError([{ where: file, key: `line ${error.line}, column ${error.column}`, message: `this is not valid TOML: ${reason}` }]);
  }
}
