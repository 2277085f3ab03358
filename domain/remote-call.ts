import type { LookupVerdict } from '../contracts/ledger.js';

/**
 * What may follow for a call of a remote agent whose task is not known (D13, D32). Invariants:
 * 1. What may have been sent is looked for before anything is sent; a task that is found is taken up.
 * 2. Absence is never proof: it is sent again only where the remote agent is declared idempotent, under the same message id.
 * 3. Without that, it is looked for a few more times, as a task may be listed late, and then given up as not known. It is never sent twice.
 */
export interface RemoteFacts {
  /** A message may have reached the remote agent. */
  maySent: boolean;
  /** Of the newest look; null before the first. */
  found: LookupVerdict | null;
  /** Another look may find out more. */
  again: boolean;
  /** Looks that were answered with "absent" so far. */
  absences: number;
  idempotent: boolean;
}

export type RemoteDecision = 'send' | 'look' | 'take_up' | 'give_up';

/** Times that a remote agent must say "absent" before a call is given up. */
export const MAX_ABSENCES = 3;

export function decideRemote({ maySent, found, again, absences, idempotent }: RemoteFacts): RemoteDecision {
  if (!maySent) return 'send';
  if (found === null) return 'look';
  if (found === 'found') return 'take_up';
  if (idempotent) return 'send';
  return again && absences < MAX_ABSENCES ? 'look' : 'give_up';
}

/** How much longer each wait between two looks is than the one before, and how much longer than the first at most. */
const GROWTH = 1.5;
const MAX_GROWTH = 10;

/** The wait after so many looks, in milliseconds. */
export function pollWait(firstMs: number, looks: number): number {
  return Math.round(Math.min(firstMs * GROWTH ** looks, firstMs * MAX_GROWTH));
}

/** Times that one message is sent before its call is given up, and the waits between them, in milliseconds (D35). */
export const MAX_SENDS = 20;
const FIRST_RESEND_MS = 500;
const LAST_RESEND_MS = 30_000;

/** What a try needs of the call's time, in milliseconds: a wait never takes so much that none would follow. */
const TRY_MS = 1000;

export interface ResendFacts {
  /** Times that it was sent so far. */
  sends: number;
  /** What the server asked for; a stranger's number. */
  retryAfterMs: number | null;
  /** What is left of the call's time limit. */
  leftMs: number;
}

/** The wait before a message is sent again, in milliseconds: at least what the server asked for, as far as the call's time allows. Null: no more tries. */
export function resendWait({ sends, retryAfterMs, leftMs }: ResendFacts): number | null {
  const room = Math.floor(leftMs) - TRY_MS;
  if (sends >= MAX_SENDS || !(room > 0)) return null;
  const own = Math.min(FIRST_RESEND_MS * 2 ** Math.max(sends - 1, 0), LAST_RESEND_MS);
  return Math.min(Math.max(own, Number.isNaN(retryAfterMs) ? 0 : (retryAfterMs ?? 0)), room);
}
