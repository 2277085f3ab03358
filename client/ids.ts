import { createHash } from 'node:crypto';

/**
 * Id of an update: equal for a repeat of the same act by the same person, so that Temporal answers the repeat with the first
 * answer (D2, D22). Hashed, because names and keys may be longer than an id can be.
 */
export function updateId(act: string, parts: (string | number)[]): string {
  return `${act}:${createHash('sha256').update(JSON.stringify(parts), 'utf8').digest('hex').slice(0, 40)}`;
}
