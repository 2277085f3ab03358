import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRecovery, type RecoveryDecision, type RecoveryInput } from '../../domain/recovery.js';

const time = fc.integer({ min: 0, max: 200_000 });
const capabilities = fc.record({
  idempotency: fc.option(fc.record({ how: fc.constant('header'), retentionMs: time, onMismatch: fc.constantFrom('conflict' as const, 'ignored' as const) })),
  lookup: fc.option(fc.record({ by: fc.constant('key'), settleAfterMs: time, authoritativeAbsence: fc.boolean() })),
  fencing: fc.boolean(),
});
const anyInput: fc.Arbitrary<RecoveryInput> = fc.record({
  capabilities,
  lookEveryMs: fc.option(time),
  unknownPolicy: fc.oneof(
    fc.constant({ retry: 'never' as const }),
    fc.record({ retry: fc.constant('bounded' as const), maxAttempts: fc.integer({ min: 1, max: 5 }), everyMs: time }),
  ),
  approvalAttempts: fc.option(fc.integer({ min: 1, max: 5 })),
  facts: fc.record({
    nowMs: time, firstDispatchedAtMs: time, inflightUntilMs: time, callEnded: fc.boolean(), callEndedAtMs: fc.option(time),
    triesMade: fc.integer({ min: 0, max: 6 }), dispatches: fc.integer({ min: 1, max: 2000 }),
    lookup: fc.option(fc.constantFrom('found' as const, 'absent' as const, 'inconclusive' as const)),
  }),
});

function always(rule: (input: RecoveryInput, decision: RecoveryDecision) => void): void {
  fc.assert(fc.property(anyInput, (input) => { rule(input, decideRecovery(input)); }), { numRuns: 2000 });
}

/** Stated independently of the code under test: the three reasons that allow a new physical call. */
function provenAbsent({ capabilities: { lookup, fencing }, facts }: RecoveryInput): boolean {
  const end = facts.callEnded ? (facts.callEndedAtMs ?? facts.inflightUntilMs) : facts.inflightUntilMs;
  return facts.lookup === 'absent' && lookup?.authoritativeAbsence === true && (fencing || facts.nowMs >= end + lookup.settleAfterMs);
}
function remembered({ capabilities: { idempotency }, facts }: RecoveryInput, afterMs: number): boolean {
  return idempotency !== null && facts.nowMs + afterMs < facts.firstDispatchedAtMs + idempotency.retentionMs;
}
function policyAllows({ capabilities: { idempotency, lookup }, unknownPolicy, approvalAttempts, facts }: RecoveryInput): boolean {
  return idempotency === null && unknownPolicy.retry === 'bounded' && (lookup === null || facts.lookup === 'absent')
    && facts.triesMade < unknownPolicy.maxAttempts && (approvalAttempts === null || facts.triesMade < approvalAttempts);
}

describe('recovery, for any facts', () => {
  it('D13: a new call needs proven absence, a remembered key, or a policy that is not used up', () => {
    always((input, decision) => {
      if (decision.action !== 'redispatch') return;
      const reasons = { absent: provenAbsent(input), key: remembered(input, decision.afterMs), policy: policyAllows(input) };
      expect(reasons[decision.basis]).toBe(true);
    });
  });

  it('D13: with the retention passed nothing is sent again but after proven absence', () => {
    always((input, decision) => {
      if (input.capabilities.idempotency === null || remembered(input, 0) || provenAbsent(input)) return;
      expect(decision.action).not.toBe('redispatch');
    });
  });

  it('D15: only found settles, and found always does; time never ends an effect', () => {
    always((input, decision) => expect(decision.action === 'settle_found').toBe(input.facts.lookup === 'found'));
  });

  it('D15: a try that may double the effect never starts while an earlier call may be on its way', () => {
    always((input, decision) => {
      const { idempotency, fencing } = input.capabilities;
      if (decision.action !== 'redispatch' || idempotency !== null || (fencing && decision.basis === 'absent')) return;
      const { callEnded, callEndedAtMs, inflightUntilMs, nowMs } = input.facts;
      const end = callEnded ? (callEndedAtMs ?? inflightUntilMs) : inflightUntilMs;
      expect(nowMs + decision.afterMs).toBeGreaterThanOrEqual(end);
    });
  });

  it('D35: every wait is a whole number of milliseconds, not negative', () => {
    always((_input, decision) => {
      const wait = 'afterMs' in decision ? decision.afterMs : 0;
      expect(Number.isInteger(wait) && wait >= 0).toBe(true);
    });
  });

  it('D13: looking again is only asked of a system that can be looked up', () => {
    always((input, decision) => {
      if (input.capabilities.lookup !== null) return;
      expect(decision.action).not.toBe('look_again');
      if (decision.action === 'unknown') expect(decision.lookAgainMs).toBeNull();
    });
  });
});
