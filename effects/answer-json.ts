import { parse } from 'lossless-json';
import type { Json, JsonObject } from '../contracts/json.js';

/** Deeper answers are treated as unreadable: everything that walks them later is recursive. */
const MAX_DEPTH = 100;
const MAX_ID_CHARS = 500;

/**
 * Reads an answer's text as JSON; undefined when it is none, gives a key twice with different values, or is nested too deeply.
 * A number that a double cannot hold exactly stays as the text of its digits: ids beyond 2^53 exist (D14).
 */
export function readAnswerJson(text: string): Json | undefined {
  try {
    const value = parse(text, undefined, exactNumber) as Json;
    return isShallow(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function exactNumber(digits: string): number | string {
  const value = Number(digits);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : digits;
}

function isShallow(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The external id in an answer: non-empty text or a whole number. Null when it is not there or could not be stored unchanged. */
export function readId(value: Json | undefined, field: string): string | null {
  if (!isObject(value) || !Object.hasOwn(value, field)) return null;
  const id = value[field];
  if (typeof id === 'number') return Number.isInteger(id) ? String(id) : null;
  if (typeof id !== 'string' || id.trim() === '' || id.length > MAX_ID_CHARS) return null;
  return id.isWellFormed() && !id.includes('\0') ? id : null;
}
