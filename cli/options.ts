import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { HoldfastError } from '../client/index.js';
import { DURATION_FORM, parseDuration } from '../contracts/duration.js';
import type { Json, JsonObject } from '../contracts/json.js';
import { parseArguments } from '../domain/arguments.js';

/** Parsers of option values. A wrong value is wrong usage: commander prints the message and exits with 2. */
export function durationOption(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError(`It must be ${DURATION_FORM}.`);
  return ms;
}

export function wholeNumberOption(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Collects a repeatable option. */
export function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}

/** Arguments of an edit, read strictly: what cannot be kept exactly is refused (D14). */
export function argumentsOption(text: string): JsonObject {
  const read = parseArguments(text);
  if (!read.ok) throw new InvalidArgumentError(`${read.problem}.`);
  return read.args;
}

/** JSON from a file, for `--data`. */
export async function jsonFile(path: string): Promise<Json> {
  const text = await readInput(path);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new HoldfastError('invalid_input', `${path} is not valid JSON.`);
  }
}

async function readInput(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new HoldfastError('invalid_input', `${path} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'}).`);
  }
}
