import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { HoldfastError } from '../client/index.js';
import { DURATION_FORM, parseDuration } from '../contracts/duration.js';
import { exactJsonSchema, type Json, type JsonObject } from '../contracts/json.js';
import { MAX_LIST } from '../contracts/list.js';
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

/** Number of rows of a list. */
export function limitOption(text: string): number {
  const limit = wholeNumberOption(text);
  if (limit < 1 || limit > MAX_LIST) throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LIST}.`);
  return limit;
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

/** JSON from a file, for `--data`. What cannot be kept exactly is refused with its place (D14). */
export async function jsonFile(path: string): Promise<Json> {
  const read = exactJsonSchema.safeParse(parsed(path, await readInput(path)));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new HoldfastError('invalid_input', `${path}: ${['data', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'not valid'}.`);
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
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
