import { setTimeout as delay } from 'node:timers/promises';

/** Waits that grow by `factor` (default 2) from `firstMs` up to `lastMs`. */
export class BackOff {
  private nextMs: number;

  constructor(
    firstMs: number,
    private readonly lastMs: number,
    private readonly factor = 2,
  ) {
    this.nextMs = firstMs;
  }

  /** Waits once, never past `deadlineMs` (epoch). Rejects when `signal` is aborted. */
  async wait(deadlineMs: number, signal?: AbortSignal): Promise<void> {
    const ms = Math.max(0, Math.min(this.nextMs, deadlineMs - Date.now()));
    this.nextMs = Math.min(this.nextMs * this.factor, this.lastMs);
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  }
}
