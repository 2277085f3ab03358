import { createHash, randomUUID } from 'node:crypto';

/**
 * Id of an update. Fresh for every act, and the same while that act is tried again: the record answers a repeat by the same person with
 * the first answer (D2, D22), but a refusal for a cause that has passed must not stand for the rest of the run.
 */
export function freshUpdateId(act: string): string {
  return `${act}:${randomUUID()}`;
}

/** Id of a workflow about a key, which may be longer than an id can be. */
export function hashedId(prefix: string, key: string): string {
  return `${prefix}:${createHash('sha256').update(key, 'utf8').digest('hex').slice(0, 40)}`;
}
