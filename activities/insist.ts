import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../store/pool.js';
import { isStoreAway, isUndone } from './failure.js';

/** How long a step waits for a PostgreSQL that is away, and the waits between its tries, in milliseconds (D35). */
const PATIENCE_MS = 30_000;
const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 1000;

/**
 * Keeps what only this worker knows: the answer of the outside world, which a lost step would have to look up, send again or give to a person
 * (D13). While PostgreSQL is away, or has undone it for the sake of others, `work` is tried again, for 30 s; it must change nothing when it has been done before.
 */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(isStoreAway(error) || isUndone(error)) || performance.now() + waitMs > until) throw error;
    }
    await delay(waitMs);
  }
}

/** A step that fails because PostgreSQL is away waits for it before it says so: an outage costs one of its attempts, not all of them (D35). */
export async function outlastingOutage<T>(db: Db, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isStoreAway(error)) await insist(() => db.query('select')).catch(() => undefined);
    throw error;
  }
}
