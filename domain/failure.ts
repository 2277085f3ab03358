/**
 * Failure classes (D35). `retryable`: the same call may be made again, after `retryAfterMs` when the server named a time.
 * `terminal`: making it again cannot help. `unknown`: it may have had its effect.
 */
export type FailureClass = 'retryable' | 'terminal' | 'unknown';

/** Longest message that is kept of any failure, in UTF-16 code units; a target may answer with megabytes (case 09). */
export const MAX_FAILURE_MESSAGE = 2000;

/** Longest wait that a server's Retry-After may ask for, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** Failure of one call to the outside world, already classified by the adapter that made it. */
export class CallError extends Error {
  constructor(
    readonly failure: FailureClass,
    message: string,
    readonly retryAfterMs: number | null = null,
  ) {
    super(clampMessage(message));
    this.name = 'CallError';
  }
}

export function clampMessage(message: string): string {
  const text = message.toWellFormed().replaceAll('\0', '\uFFFD');
  return text.length <= MAX_FAILURE_MESSAGE ? text : `${text.slice(0, MAX_FAILURE_MESSAGE).toWellFormed()}… (${text.length} characters)`;
}

/** Reads a Retry-After header (seconds or an HTTP date) as milliseconds, clamped; null when absent or unreadable. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const seconds = Number(header.trim());
  const ms = Number.isFinite(seconds) && header.trim() !== '' ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

/** This build cannot go on with a turn's pinned definition: it is not stored, or holds what this build does not know. A waiting state, never an end (D34). */
export class NeedsMigration extends Error {
  constructor(digest: string, readonly problem: string) {
    super(clampMessage(
      `The definition ${digest.slice(0, 12)} cannot be used by this build: ${problem}. Start a worker of the release that wrote it, or move the turn to another one with "holdfast turn migrate".`,
    ));
    this.name = 'NeedsMigration';
  }
}

/** Type of the activity failure that carries it to the workflow. */
export const NEEDS_MIGRATION = 'needs_migration';
