import { Context } from '@temporalio/activity';

/** Heartbeats are sent this often, in milliseconds; the timeout that notices a dead worker is a few times as long (D1). */
const BEAT_MS = 700;

/** Runs `work` under heartbeats, so that a killed worker is noticed long before the call's own time limit. */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  // The first one only after a while: most calls are over before, and a heartbeat is a write in the server.
  const timer = setInterval(() => context.heartbeat(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Signal that ends a call when the activity is cancelled (D27). A model call's time limit is kept by its provider alone, which names the model. */
export function cancelSignal(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** The same, for a call whose time limit is ours. */
export function callSignal(timeoutMs: number): AbortSignal {
  return within(cancelSignal(), timeoutMs);
}

/**
 * A signal that comes with another one, or after a time in milliseconds. Node collects a timer's signal to which nobody listens, although a
 * combined one waits for it, and the time would then never be over (D35).
 */
export function within(signal: AbortSignal, ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  timeout.addEventListener('abort', () => undefined, { once: true });
  return AbortSignal.any([signal, timeout]);
}

/** Waits inside an activity; ends with its cancel. */
export function pauseInCall(ms: number): Promise<void> {
  return Context.current().sleep(ms);
}
