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
    nowMs: time, firstDispatchedAtMs: time, inflightUntilMs: time, goesOnUntilMs: fc.option(time), callEnded: fc.boolean(), callEndedAtMs: fc.option(time),
    triesMade: fc.integer({ min: 0, max: 6 }), dispatches: fc.integer({ min: 1, max: 2000 }),
    lookup: fc.option(fc.constantFrom('found' as const, 'absent' as const, 'inconclusive' as const)),
  }),
});

function always(rule: (input: RecoveryInput, decision: RecoveryDecision) => void): void {
  fc.assert(fc.property(anyInput, (input) => { rule(input, decideRecovery(input)); }), { numRuns: 2000 });
}

/** When the last call can no longer be in flight. */
function inflightEnd({ callEnded, callEndedAtMs, inflightUntilMs, goesOnUntilMs }: RecoveryInput['facts']): number {
  return callEnded && callEndedAtMs !== null ? callEndedAtMs : Math.max(inflightUntilMs, goesOnUntilMs ?? inflightUntilMs);
}
function goesOn({ callEnded, goesOnUntilMs, nowMs }: RecoveryInput['facts']): boolean {
  return !callEnded && goesOnUntilMs !== null && goesOnUntilMs > nowMs;
}

/** Stated independently of the code under test: the three reasons that allow a new physical call. */
function provenAbsent({ capabilities: { lookup, fencing }, facts }: RecoveryInput): boolean {
  return facts.lookup === 'absent' && lookup?.authoritativeAbsence === true && (fencing || facts.nowMs >= inflightEnd(facts) + lookup.settleAfterMs);
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
      expect(input.facts.nowMs + decision.afterMs).toBeGreaterThanOrEqual(inflightEnd(input.facts));
    });
  });

  it('D15, D27: while work goes on after its limit nothing is sent beside it but under a key that the target remembers, or where taking over ends it', () => {
    always((input, decision) => {
      if (!goesOn(input.facts) || decision.action !== 'redispatch') return;
      expect(decision.basis === 'key' || (decision.basis === 'absent' && input.capabilities.fencing)).toBe(true);
    });
  });

  it('D15, D35: while work goes on a person is asked at once, and it is looked at again at the latest when its worker is no longer believed', () => {
    always((input, decision) => {
      if (!goesOn(input.facts) || decision.action === 'redispatch' || decision.action === 'settle_found') return;
      expect(decision.action).toBe('unknown');
      expect(decision).toMatchObject({ lookAgainMs: expect.any(Number) as number });
      if (decision.action === 'unknown') expect(decision.lookAgainMs).toBeLessThanOrEqual(input.facts.goesOnUntilMs! - input.facts.nowMs);
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
      if (decision.action === 'unknown' && !goesOn(input.facts)) expect(decision.lookAgainMs).toBeNull();
    });
  });
});
