import type { Capabilities, EffectDefinition } from '../contracts/effect.js';
import type { LookupVerdict } from '../contracts/ledger.js';

/** How long a worker's word counts that the work behind a call goes on after its time limit, in milliseconds (8). */
export const QUIET_MS = 300_000;

/**
 * What may follow for an effect that was dispatched and whose outcome is open (D13, D15). Invariants:
 * 1. `found` settles; nothing else does. Time alone never ends an effect, neither as failed nor as done.
 * 2. An inconclusive look-up is never read as absent.
 * 3. Absence allows a new call only if it is authoritative and was seen after the call could no longer be in flight plus the settle
 *    time; before that the look-up is repeated. A target that refuses calls of an older owner needs no waiting: to take over ends them (D17).
 * 4. Without 3, sending again needs an idempotency key that the target still remembers. Retention counts from the first dispatch.
 * 5. Once the retention has passed, nothing but 3 sends again: the policy does not override it.
 * 6. Without keys, a new try that could double the effect happens only where the policy for unknown outcomes says so, at most
 *    `maxAttempts` tries in all and never more than an approval permits, and not while an earlier call may be in flight.
 * 7. Repeated sending backs off, at most a minute.
 * 8. Work that outlives the time limit of its call is in flight until its end is known. Its worker says so again and again, each word counts for
 *    `QUIET_MS`; when the worker falls silent, the last word bounds it. Until then only 4 sends again: a person is asked, and 3 and 6 wait.
 */

export interface RecoveryInput {
  capabilities: Pick<Capabilities, 'idempotency' | 'lookup' | 'fencing'>;
  /** Milliseconds between look-ups of an unknown entry; null without a look-up. */
  lookEveryMs: number | null;
  unknownPolicy: EffectDefinition['unknown'];
  /** Tries that the approval permits; null when the effect needs none. */
  approvalAttempts: number | null;
  facts: RecoveryFacts;
}

/** Times in milliseconds since the epoch, all by one clock. */
export interface RecoveryFacts {
  /** Read before the look-up was made, so that a look-up is never trusted for a time that it did not see. */
  nowMs: number;
  firstDispatchedAtMs: number;
  /** Until then a call whose end is not known may still be on its way. */
  inflightUntilMs: number;
  /** Until then the work of a call that outlived its time limit is believed to go on; null when no such call is without its end. */
  goesOnUntilMs: number | null;
  /** Every physical call is known to have ended, the last one at `callEndedAtMs`. */
  callEnded: boolean;
  callEndedAtMs: number | null;
  /** Physical calls that are neither proven absent nor proven not sent. */
  triesMade: number;
  /** All physical calls, for the back-off. */
  dispatches: number;
  /** Null: no look-up was possible. */
  lookup: LookupVerdict | null;
}

/**
 * Why a new call is allowed. `absent`: what was sent so far is proven to have had no effect (3); with `key` (4) and `policy` (6) it may
 * still have one.
 */
export type RedispatchBasis = 'absent' | 'key' | 'policy';

/**
 * `redispatch`: not after `beforeMs` (since the epoch), when the target forgets the key; null when that does not matter.
 * `unknown`: a person is asked; `lookAgainMs` is when to look again meanwhile, null without a look-up. Waits are in milliseconds.
 */
export type RecoveryDecision =
  | { action: 'settle_found' }
  | { action: 'redispatch'; afterMs: number; basis: RedispatchBasis; beforeMs: number | null }
  | { action: 'look_again'; afterMs: number }
  | { action: 'unknown'; lookAgainMs: number | null };

const MAX_BACKOFF_MS = 60_000;

export function decideRecovery(input: RecoveryInput): RecoveryDecision {
  const { lookup, fencing } = input.capabilities;
  const verdict = input.facts.lookup;
  if (verdict === 'found') return { action: 'settle_found' };
  if (lookup === null) return resend(input) ?? policyRetry(input) ?? unknown(input);
  if (verdict !== 'absent') return resend(input) ?? unknown(input);
  if (!lookup.authoritativeAbsence) return resend(input) ?? policyRetry(input) ?? unknown(input);
  const unsettledMs = fencing ? 0 : inflightEndMs(input.facts) + lookup.settleAfterMs - input.facts.nowMs;
  if (unsettledMs <= 0) return { action: 'redispatch', afterMs: backoffMs(input.facts.dispatches), basis: 'absent', beforeMs: null };
  return resend(input) ?? (goesOnForMs(input.facts) > 0 ? unknown(input) : { action: 'look_again', afterMs: Math.ceil(unsettledMs) });
}

/** Sends the same key again while the target remembers it (4), also when an earlier call is still on its way. */
function resend({ capabilities, facts }: RecoveryInput): RecoveryDecision | null {
  if (capabilities.idempotency === null) return null;
  const beforeMs = facts.firstDispatchedAtMs + capabilities.idempotency.retentionMs;
  const afterMs = backoffMs(facts.dispatches);
  return facts.nowMs + afterMs < beforeMs ? { action: 'redispatch', afterMs, basis: 'key', beforeMs } : null;
}

/** A bounded new try, declared by the policy, that may double the effect (6). */
function policyRetry({ capabilities, unknownPolicy, approvalAttempts, facts }: RecoveryInput): RecoveryDecision | null {
  if (capabilities.idempotency !== null || unknownPolicy.retry === 'never' || goesOnForMs(facts) > 0) return null;
  const permitted = Math.min(unknownPolicy.maxAttempts, approvalAttempts ?? Infinity);
  if (facts.triesMade >= permitted) return null;
  return { action: 'redispatch', afterMs: Math.ceil(Math.max(unknownPolicy.everyMs, inflightEndMs(facts) - facts.nowMs)), basis: 'policy', beforeMs: null };
}

/** Looked at again at the latest when work that goes on is no longer believed to: then the policy may go on (8). */
function unknown({ capabilities, lookEveryMs, facts }: RecoveryInput): RecoveryDecision {
  const everyMs = capabilities.lookup === null ? null : lookEveryMs;
  const goesOnMs = goesOnForMs(facts);
  return { action: 'unknown', lookAgainMs: goesOnMs > 0 ? Math.min(everyMs ?? Infinity, goesOnMs) : everyMs };
}

/** When the last call can no longer be in flight: its known end, otherwise the end of its time limit, or of what goes on after it (8). */
function inflightEndMs({ callEnded, callEndedAtMs, inflightUntilMs, goesOnUntilMs }: RecoveryFacts): number {
  return callEnded && callEndedAtMs !== null ? callEndedAtMs : Math.max(inflightUntilMs, goesOnUntilMs ?? 0);
}

/** For how long, in whole milliseconds, work is still believed to go on after the limit of its call. */
function goesOnForMs({ callEnded, goesOnUntilMs, nowMs }: RecoveryFacts): number {
  return callEnded || goesOnUntilMs === null ? 0 : Math.max(0, Math.ceil(goesOnUntilMs - nowMs));
}

/** None after the first call, so that a crash costs no time; then 1 s, 2 s, 4 s … */
function backoffMs(dispatches: number): number {
  return dispatches <= 1 ? 0 : Math.min(1000 * 2 ** (dispatches - 2), MAX_BACKOFF_MS);
}

/** Why an effect was given up of which no try had an effect (D10, D35). `lastNote`: how the last one ended, where that is known. */
export function givenUp(tries: number, lastNote: string | null): string {
  return `It was given up after ${tries} ${tries === 1 ? 'try' : 'tries'}, of which none had an effect. The last one: ${lastNote ?? 'it failed before anything was sent'}`;
}
