import { setTimeout as delay } from 'node:timers/promises';

export { freePort } from '../../dev/ports.js';

const EVERY_MS = 25;

/**
 * Calls `condition` until its answer is neither null, undefined nor false, and returns that answer. An error that it throws counts as
 * "not yet". Throws after `timeoutMs` (default 20 s), saying `what` did not come true.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 20_000, what }: { timeoutMs?: number; what: string },
): Promise<NonNullable<Exclude<T, false>>> {
  const until = Date.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const answer = await condition();
      if (isThere(answer)) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await delay(EVERY_MS);
  } while (Date.now() < until);
  const seen = last instanceof Error ? last.message : (JSON.stringify(last) ?? 'nothing');
  throw new Error(`waited ${timeoutMs} ms for ${what}; last seen: ${seen}`, { cause: last });
}

function isThere<T>(answer: T): answer is NonNullable<Exclude<T, false>> {
  return answer !== null && answer !== undefined && answer !== false;
}
