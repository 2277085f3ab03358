import { randomBytes } from 'node:crypto';

/** A name that no other test uses: `prefix-` and 10 letters or digits in lower case. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(5).toString('hex')}`;
}

/** Task queue of one test file, so that files never take each other's work on the shared server. */
export function freshTaskQueue(): string {
  return uniqueName('queue');
}
