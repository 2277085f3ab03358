import { createHash } from 'node:crypto';
import type { Json } from '../contracts/json.js';
import { canonicalJson } from '../domain/canonical.js';

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** Digest of a value's canonical form (D14): equal for every spelling of the same value. */
export function digestOf(value: Json): string {
  return sha256Hex(canonicalJson(value));
}
