import { describe, expect, it } from 'vitest';
import type { LookupVerdict } from '../../contracts/ledger.js';
import { decideRecovery, type RecoveryDecision, type RecoveryFacts, type RecoveryInput } from '../../domain/recovery.js';

const KEYS = { how: 'header', retentionMs: 100_000, onMismatch: 'conflict' } as const;
const AUTHORITATIVE = { by: 'key', settleAfterMs: 2000, authoritativeAbsence: true };
const EVENTUAL = { by: 'key', settleAfterMs: 2000, authoritativeAbsence: false };
const NEVER = { retry: 'never' } as const;
const BOUNDED = { retry: 'bounded', maxAttempts: 3, everyMs: 5000 } as const;

/** First dispatched at 0; the call ended at 1000 if it is known to have ended, otherwise it may be on its way until 10,000. */
const facts = (change: Partial<RecoveryFacts>): RecoveryFacts => ({
  nowMs: 20_000, firstDispatchedAtMs: 0, inflightUntilMs: 10_000, goesOnUntilMs: null, callEnded: false, callEndedAtMs: null, triesMade: 1, dispatches: 1, lookup: null, ...change,
});

interface Row {
  keys?: boolean;
  fencing?: boolean;
  lookup?: RecoveryInput['capabilities']['lookup'];
  verdict?: LookupVerdict | null;
  policy?: RecoveryInput['unknownPolicy'];
  attempts?: number | null;
  facts?: Partial<RecoveryFacts>;
}

function decide({ keys = false, fencing = false, lookup = null, verdict = null, policy = NEVER, attempts = null, facts: change = {} }: Row): RecoveryDecision {
  return decideRecovery({
    capabilities: { idempotency: keys ? KEYS : null, lookup, fencing }, lookEveryMs: lookup === null ? null : 30_000,
    unknownPolicy: policy, approvalAttempts: attempts, facts: facts({ lookup: verdict, ...change }),
  });
}

const SEND: RecoveryDecision = { action: 'redispatch', afterMs: 0, basis: 'absent', beforeMs: null };
const RESEND: RecoveryDecision = { action: 'redispatch', afterMs: 0, basis: 'key', beforeMs: 100_000 };
const ASK: RecoveryDecision = { action: 'unknown', lookAgainMs: null };
const ASK_AND_LOOK: RecoveryDecision = { action: 'unknown', lookAgainMs: 30_000 };
const FORGOTTEN = { nowMs: 100_001 };
/** The work outlived its limit; its worker was last heard of at 40,000 less the quiet time. */
const GOES_ON = { goesOnUntilMs: 40_000 };

describe('recovery of a dispatched effect (D13)', () => {
  const rows: [string, Row, RecoveryDecision][] = [
    ['found is settled', { lookup: EVENTUAL, verdict: 'found' }, { action: 'settle_found' }],
    ['found is settled, also after the retention', { keys: true, lookup: AUTHORITATIVE, verdict: 'found', facts: FORGOTTEN }, { action: 'settle_found' }],
    ['absent, authoritative and settled: sent again', { lookup: AUTHORITATIVE, verdict: 'absent' }, SEND],
    ['absent, authoritative, settled after the retention: sent again', { keys: true, lookup: AUTHORITATIVE, verdict: 'absent', facts: FORGOTTEN }, SEND],
    ['absent while the call may be on its way: looked up after the rest', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 9000 } }, { action: 'look_again', afterMs: 3000 }],
    ['the same with a key: sent again at once', { keys: true, lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 9000 } }, RESEND],
    ['absent at a target that refuses calls of an older owner: sent again at once, whatever is on its way (D17, D18)', { fencing: true, keys: true, lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 9000 } }, SEND],
    ['absent one millisecond before it settles', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 11_999 } }, { action: 'look_again', afterMs: 1 }],
    ['absent when it settles', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 12_000 } }, SEND],
    ['a known end counts instead of the time limit', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { nowMs: 3000, callEnded: true, callEndedAtMs: 1000 } }, SEND],
    ['absent, not authoritative, with a key: sent again', { keys: true, lookup: EVENTUAL, verdict: 'absent' }, RESEND],
    ['absent, not authoritative, no key: unknown', { lookup: EVENTUAL, verdict: 'absent' }, ASK_AND_LOOK],
    ['absent, not authoritative, key forgotten: unknown', { keys: true, lookup: EVENTUAL, verdict: 'absent', facts: FORGOTTEN }, ASK_AND_LOOK],
    ['absent, not authoritative, the policy tries again', { lookup: EVENTUAL, verdict: 'absent', policy: BOUNDED }, { action: 'redispatch', afterMs: 5000, basis: 'policy', beforeMs: null }],
    ['inconclusive with a key: sent again', { keys: true, lookup: AUTHORITATIVE, verdict: 'inconclusive' }, RESEND],
    ['inconclusive, no key: unknown', { lookup: AUTHORITATIVE, verdict: 'inconclusive' }, ASK_AND_LOOK],
    ['inconclusive, no key: the policy does not apply', { lookup: AUTHORITATIVE, verdict: 'inconclusive', policy: BOUNDED }, ASK_AND_LOOK],
    ['inconclusive, key forgotten: unknown', { keys: true, lookup: AUTHORITATIVE, verdict: 'inconclusive', facts: FORGOTTEN }, ASK_AND_LOOK],
    ['a look-up that was not made is no absence', { lookup: AUTHORITATIVE, verdict: null }, ASK_AND_LOOK],
    ['key only: sent again', { keys: true }, RESEND],
    ['key only, at the end of its retention: unknown', { keys: true, facts: { nowMs: 100_000 } }, ASK],
    ['key only, forgotten: the policy does not help', { keys: true, policy: BOUNDED, facts: FORGOTTEN }, ASK],
    ['neither: unknown', {}, ASK],
    ['neither: the policy tries again', { policy: BOUNDED }, { action: 'redispatch', afterMs: 5000, basis: 'policy', beforeMs: null }],
    ['neither: not while the call may be on its way', { policy: BOUNDED, facts: { nowMs: 1000 } }, { action: 'redispatch', afterMs: 9000, basis: 'policy', beforeMs: null }],
    ['neither: the policy is used up', { policy: BOUNDED, facts: { triesMade: 3 } }, ASK],
    ['neither: the approval permits fewer tries', { policy: BOUNDED, attempts: 1 }, ASK],
    ['a resend under the key is no new try of the approval', { keys: true, attempts: 1, facts: { triesMade: 5 } }, RESEND],
    ['a resend that would leave after the retention is not planned', { keys: true, facts: { nowMs: 99_500, dispatches: 3 } }, ASK],
    ['work goes on after its limit: absent is no proof, a person is asked and it is looked up again', { lookup: AUTHORITATIVE, verdict: 'absent', facts: GOES_ON }, { action: 'unknown', lookAgainMs: 20_000 }],
    ['the same, and the next look-up comes sooner', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { ...GOES_ON, nowMs: 5000 } }, ASK_AND_LOOK],
    ['work goes on: found is settled', { lookup: AUTHORITATIVE, verdict: 'found', facts: GOES_ON }, { action: 'settle_found' }],
    ['work goes on: the policy waits for its end', { policy: BOUNDED, facts: GOES_ON }, { action: 'unknown', lookAgainMs: 20_000 }],
    ['work goes on, with a key: sent again', { keys: true, facts: GOES_ON }, RESEND],
    ['its worker fell silent: the policy goes on', { policy: BOUNDED, facts: { ...GOES_ON, nowMs: 40_000 } }, { action: 'redispatch', afterMs: 5000, basis: 'policy', beforeMs: null }],
    ['its worker fell silent: absence settles from then on', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { ...GOES_ON, nowMs: 41_000 } }, { action: 'look_again', afterMs: 1000 }],
    ['its worker fell silent and the absence has settled: sent again', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { ...GOES_ON, nowMs: 42_000 } }, SEND],
    ['its worker fell silent, neither: unknown for ever', { facts: { ...GOES_ON, nowMs: 40_000 } }, ASK],
    ['repeated sending backs off', { keys: true, facts: { dispatches: 4 } }, { action: 'redispatch', afterMs: 4000, basis: 'key', beforeMs: 100_000 }],
    ['the back-off ends at a minute', { lookup: AUTHORITATIVE, verdict: 'absent', facts: { dispatches: 500 } }, { action: 'redispatch', afterMs: 60_000, basis: 'absent', beforeMs: null }],
  ];
  it.each(rows)('D13: %s', (_what, row, decision) => {
    expect(decide(row)).toEqual(decision);
  });
});
