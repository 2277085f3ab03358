import type { Json } from '../contracts/json.js';

/**
 * Canonical form of JSON for digests and hashes (D14, D21), after RFC 8785: keys in UTF-16 order, no white space, numbers
 * as ECMAScript writes them. Decided on top of it:
 * 1. `1` and `1.0` are one number, `-0` is `0`.
 * 2. Strings and keys are compared in Unicode NFC; two keys that become equal are refused.
 * 3. `null` and absent differ; array order counts.
 * 4. Nothing else is a value: NaN, infinities, undefined, BigInt, dates, class instances and cycles are refused, and so is
 *    the key `__proto__`, NUL and half a surrogate pair.
 */
export class NotCanonicalError extends Error {
  constructor(path: string, why: string) {
    super(`${path === '' ? 'the value' : path}: ${why}`);
    this.name = 'NotCanonicalError';
  }
}

const MAX_DEPTH = 100;

export function canonicalJson(value: Json): string {
  return write(value, '', 0);
}

function write(value: unknown, path: string, depth: number): string {
  if (depth > MAX_DEPTH) throw new NotCanonicalError(path, `nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return writeString(value, path);
  if (typeof value === 'number') return writeNumber(value, path);
  if (Array.isArray(value)) return `[${Array.from(value, (item, i) => write(item, `${path}[${i}]`, depth + 1)).join(',')}]`;
  if (isPlainObject(value)) return writeObject(value, path, depth);
  throw new NotCanonicalError(path, `${typeof value === 'object' ? 'only plain objects' : `a ${typeof value}`} cannot be written as JSON`);
}

function writeString(value: string, path: string): string {
  if (!value.isWellFormed()) throw new NotCanonicalError(path, 'holds half of a surrogate pair');
  if (value.includes('\0')) throw new NotCanonicalError(path, 'holds a NUL character');
  return JSON.stringify(value.normalize('NFC'));
}

function writeNumber(value: number, path: string): string {
  if (!Number.isFinite(value)) throw new NotCanonicalError(path, `${value} is not a JSON number`);
  return JSON.stringify(value === 0 ? 0 : value);
}

function writeObject(value: Record<string, unknown>, path: string, depth: number): string {
  const parts = new Map<string, string>();
  for (const [key, item] of Object.entries(value)) {
    const where = path === '' ? key : `${path}.${key}`;
    if (key === '__proto__') throw new NotCanonicalError(where, 'this key is not allowed');
    const name = writeString(key, where);
    if (parts.has(name)) throw new NotCanonicalError(where, 'the same key twice after Unicode normalisation');
    parts.set(name, write(item, where, depth + 1));
  }
  const sorted = [...parts].sort(([a], [b]) => (JSON.parse(a) < JSON.parse(b) ? -1 : 1));
  return `{${sorted.map(([name, text]) => `${name}:${text}`).join(',')}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
