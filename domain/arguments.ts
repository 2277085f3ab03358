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
    return { ok: true, args: value, canonical: canonicalJson(value) };
  } catch (error) {
    return { ok: false, problem: error instanceof NotCanonicalError ? error.message : `the arguments are not valid JSON: ${messageOf(error)}` };
  }
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
