import pLimit, { type LimitFunction } from 'p-limit';

/** Gives a permit back. */
export type Release = () => void;

/**
 * Permits for calls of one worker, by effect: at most so many run at once. A permit is given back when the work behind the call has really ended,
 * not when the call was given up (D27).
 */
export class Permits {
  private readonly limits = new Map<string, LimitFunction>();

  /** A permit, or null when none came free until the signal. First come, first served. */
  async take(effect: string, max: number, until: AbortSignal): Promise<Release | null> {
    const limit = this.limits.get(effect) ?? pLimit(max);
    limit.concurrency = max;
    this.limits.set(effect, limit);
    let given: Release | null = null;
    let late = false;
    const came = new Promise<void>((arrive) => {
      void limit(() => new Promise<void>((release) => {
        // Nobody waits for it any more: the next one may have it.
        if (late) return release();
        given = release;
        arrive();
      }));
    });
    await earlier(came, until);
    late = given === null;
    return given;
  }
}

async function earlier(event: Promise<void>, until: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    stop = resolve;
    if (until.aborted) resolve();
    else until.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([event, ended]);
  until.removeEventListener('abort', stop);
}
