import { isLosslessNumber, parse } from 'lossless-json';
import type { Json, JsonObject } from '../contracts/json.js';
import { NotCanonicalError, canonicalJson } from './canonical.js';

/** Arguments of a call as read from text that is not trusted (D7, D14). */
export type ParsedArguments = { ok: true; args: JsonObject; canonical: string } | { ok: false; problem: string };

/**
 * Reads argument text strictly. Nothing is repaired: cut-off text, a value that is not an object, a key given twice, an
 * integer beyond ±2^53, `__proto__`, NUL and half surrogate pairs are refused with the reason.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: false, problem: 'the arguments are empty; an object is needed' };
  try {
    const value = plain(parse(text, undefined, { onDuplicateKey: ({ key }) => refuse(`the key ${JSON.stringify(key)} is given twice`) }), '');
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return { ok: false, problem: 'the arguments are not a JSON object' };
    if (keysWritten(text) !== keysRead(value)) return { ok: false, problem: 'the arguments give a key twice' };
    return { ok: true, args: value, canonical: canonicalJson(value) };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problem: 'the arguments are nested too deeply' };
    return { ok: false, problem: error instanceof NotCanonicalError ? error.message : `the arguments are not valid JSON: ${messageOf(error)}` };
  }
}

/** Keys in the text of valid JSON. The parser itself says nothing of a key that is given twice with values it takes for equal, such as `[]` and `{}`. */
function keysWritten(text: string): number {
  let keys = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') inString = !inString;
    else if (inString && char === '\\') at += 1;
    else if (!inString && char === ':') keys += 1;
  }
  return keys;
}

function keysRead(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, item) => sum + keysRead(item), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

function plain(value: unknown, path: string): Json {
  if (isLosslessNumber(value)) return exactNumber(value.value, path);
  if (Array.isArray(value)) return value.map((item, i) => plain(item, `${path}[${i}]`));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, plain(item, path === '' ? key : `${path}.${key}`)]);
    return Object.fromEntries(entries);
  }
  return value as Json;
}

/** An integer must keep its digits; a fraction may be rounded to the nearest double, as every JSON reader does. */
function exactNumber(digits: string, path: string): number {
  const number = Number(digits);
  if (!Number.isFinite(number)) throw new NotCanonicalError(path, `${digits.slice(0, 40)} is too large`);
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    throw new NotCanonicalError(path, `the integer ${digits.slice(0, 40)} is beyond 2^53; write it as a string`);
  }
  return number;
}

function refuse(problem: string): never {
  throw new NotCanonicalError('', problem);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
