import { parse } from 'lossless-json';
import type { Json, JsonObject } from '../contracts/json.js';

/** Deeper answers are treated as unreadable: everything that walks them later is recursive. */
const MAX_DEPTH = 100;
const MAX_ID_CHARS = 500;
/** Error codes by which systems say that a key was used with other arguments (D14). */
const MISMATCH_CODES = new Set(['idempotency_mismatch', 'idempotency_key_reused', 'idempotency_error', 'idempotency_conflict']);

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
  if (typeof id === 'number') return Number.isSafeInteger(id) ? String(id) : null;
  if (typeof id !== 'string' || id.trim() === '' || id.length > MAX_ID_CHARS) return null;
  return id.isWellFormed() && !id.includes('\0') ? id : null;
}

/** True when an error says by its `code`, `error` or `type` that the key is known with other arguments (D14). */
export function namesMismatch(value: Json | undefined): boolean {
  return ['code', 'error', 'type'].some((field) => MISMATCH_CODES.has(readId(value, field) ?? ''));
}

/**
 * A value of somebody else's code as JSON: a copy with nothing in it but what JSON can hold. Undefined when it holds anything else (a
 * function, a date, NaN, a BigInt, a cycle, an accessor that throws) or is nested too deeply. A property that is undefined is left out.
 */
export function toJson(value: unknown): Json | undefined {
  try {
    return copyJson(value, MAX_DEPTH);
  } catch {
    return undefined;
  }
}

function copyJson(value: unknown, depth: number): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || depth === 0) throw new TypeError('not JSON');
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth - 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('not a plain object');
  return Object.fromEntries(Object.entries(value).flatMap(([name, item]) => (item === undefined ? [] : [[name, copyJson(item, depth - 1)]])));
}
