import { ApplicationFailure } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';
import { toFailure } from './failure.js';

/** How long a result that only this worker knows waits for PostgreSQL to come back, and the waits between the tries, in milliseconds (D35). */
const PATIENCE_MS = 30_000;
const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 1000;

/**
 * Keeps what only this worker knows: the answer of the outside world, which a lost step would have to look up, send again or give to a person
 * (D13). While PostgreSQL is away `work` is tried again, for 30 s; it must change nothing when it has been done before.
 */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      const failure = toFailure(error);
      if (!(failure instanceof ApplicationFailure) || failure.nonRetryable === true || performance.now() + waitMs > until) throw error;
    }
    await delay(waitMs);
  }
}
