import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

/**
 * Typed proxies with every time limit and retry policy (D35). Steps that touch PostgreSQL only are local activities: no round trip to
 * the server. They are all keyed, so that running one again after a crash inside a workflow task changes nothing.
 */
export const store = oneAtATime(
  proxyLocalActivities<Activities>({
    startToCloseTimeout: '20s',
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '100ms', maximumInterval: '10s', backoffCoefficient: 2 },
    localRetryThreshold: '5s',
  }),
);

/**
 * Never two local activities of one run at once. Two that are open together end in two activations when they run, but in one when
 * they are replayed: what follows from them (answers to updates, timers, activities) then stands in another order than in the
 * history, and the run can never be replayed again (D1, D34).
 */
function oneAtATime<T extends object>(activities: T): T {
  let last: Promise<unknown> = Promise.resolve();
  return new Proxy(activities, {
    get: (target, name) => (...args: unknown[]) => {
      const run = last.then(() => (Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>)(...args));
      last = run.catch(() => undefined);
      return run;
    },
  });
}

/** Heartbeats come every 0.7 s; a worker that is gone is noticed after this time, however long its call may take (D1). */
const HEARTBEAT_TIMEOUT = '2500ms';

/** Time that an activity may need around its call: claim, record (which waits 30 s for a PostgreSQL that is away), and the worker's own delays. */
const MARGIN_MS = 45_000;

/** Model calls and children: safe to repeat under their key, so Temporal retries them, bounded (D12). */
export function repeatable(timeoutMs: number, summary: string, maximumAttempts = 5) {
  return proxyActivities<Activities>({
    startToCloseTimeout: timeoutMs + MARGIN_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '500ms', maximumInterval: '30s', backoffCoefficient: 2, maximumAttempts },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary,
  });
}

/** Tries of a call of a remote agent: each looks before it sends (D13), and a long task may outlive many workers. */
export const REMOTE_ATTEMPTS = 20;

/** Effects: Temporal never retries one; what follows a lost try is decided by looking first (D13). */
export function once(timeoutMs: number, summary: string) {
  return proxyActivities<Activities>({
    startToCloseTimeout: timeoutMs + MARGIN_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: 1 },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary,
  });
}

/**
 * Waits until what this run has decided so far is in its history (D1). What a local activity stores can be read at once, but with a lost
 * workflow task the run forgets why. Cheaper than the shortest timer, which takes up to a second.
 */
export function checkpoint(summary: string): Promise<void> {
  return reading(summary).checkpoint({});
}

/** Look-ups, previews and edits read the outside world and are retried. */
export function reading(summary: string) {
  return proxyActivities<Activities>({
    startToCloseTimeout: '40s',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '300ms', maximumInterval: '10s', backoffCoefficient: 2, maximumAttempts: 4 },
    summary,
  });
}
