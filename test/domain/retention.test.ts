import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../contracts/json.js';
import type { LookupVerdict } from '../../contracts/ledger.js';
import { parseArguments } from '../../domain/arguments.js';
import { canonicalJson } from '../../domain/canonical.js';
import { decideRecovery, type RecoveryDecision, type RecoveryInput } from '../../domain/recovery.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LIMIT = MINUTE;

/** A payment system that remembers a key for a day, simulated with the clock that is passed in, and then does it anew. */
class Payments {
  readonly done: { at: number; args: Json }[] = [];
  private remembered: { until: number; form: string } | null = null;

  pay(args: Json, now: number): 'done' | 'same' | 'conflict' {
    if (this.remembered !== null && now < this.remembered.until) return this.remembered.form === canonicalJson(args) ? 'same' : 'conflict';
    this.remembered = { until: now + DAY, form: canonicalJson(args) };
    this.done.push({ at: now, args });
    return 'done';
  }

  find(): LookupVerdict {
    return this.done.length > 0 ? 'found' : 'absent';
  }
}

type Lookup = RecoveryInput['capabilities']['lookup'];
const PROOF: Lookup = { by: 'key', settleAfterMs: MINUTE, authoritativeAbsence: true };
const HINT: Lookup = { by: 'key', settleAfterMs: MINUTE, authoritativeAbsence: false };

/** One effect as the ledger keeps it, of which every answer gets lost. */
class Effect {
  private first: number | null = null;
  private last = 0;
  private calls = 0;

  constructor(readonly target: Payments, readonly lookup: Lookup, readonly args: Json = { order: 'A1', amount: 5 }) {}

  /** A call at this time; `arrives`: whether it reaches the target before its worker is lost. */
  call(now: number, arrives: boolean): void {
    this.first ??= now;
    this.last = now;
    this.calls += 1;
    if (arrives) this.target.pay(this.args, now);
  }

  decide(now: number): RecoveryDecision {
    return decideRecovery({
      capabilities: { idempotency: { how: 'header', retentionMs: DAY, onMismatch: 'conflict' }, lookup: this.lookup, fencing: false },
      lookEveryMs: this.lookup === null ? null : MINUTE, unknownPolicy: { retry: 'bounded', maxAttempts: 100, everyMs: 0 }, approvalAttempts: 1,
      facts: {
        nowMs: now, firstDispatchedAtMs: this.first!, inflightUntilMs: this.last + LIMIT, goesOnUntilMs: null, callEnded: false, callEndedAtMs: null,
        triesMade: this.calls, dispatches: this.calls, lookup: this.lookup === null ? null : this.target.find(),
      },
    });
  }

  /** What a worker does that comes at `now` and is held up for a while before it sends: the claim refuses a key that is forgotten by then. */
  recover(now: number, { heldUp = 0, arrives = true } = {}): RecoveryDecision['action'] | 'too_late' {
    const decision = this.decide(now);
    if (decision.action !== 'redispatch') return decision.action;
    const sentAt = now + decision.afterMs + heldUp;
    if (decision.beforeMs !== null && sentAt >= decision.beforeMs) return 'too_late';
    this.call(sentAt, arrives);
    return 'redispatch';
  }
}

describe('a key and the time for which its target remembers it', () => {
  it('case 30, D13: an approval answered after three days costs nothing of it: the time counts from the first call', () => {
    const effect = new Effect(new Payments(), null);
    const approvedAt = 3 * DAY;
    effect.call(approvedAt, true);
    expect(effect.recover(approvedAt + HOUR)).toBe('redispatch');
    expect(effect.recover(approvedAt + DAY - HOUR)).toBe('redispatch');
    expect(effect.target.done).toEqual([{ at: approvedAt, args: effect.args }]);
  });

  it('case 30, D13: sending again does not lengthen it', () => {
    const effect = new Effect(new Payments(), null);
    effect.call(0, true);
    expect(effect.recover(DAY - HOUR)).toBe('redispatch');
    for (const now of [DAY, DAY + HOUR, 2 * DAY, 400 * DAY]) expect(effect.recover(now)).toBe('unknown');
    expect(effect.target.done).toHaveLength(1);
  });

  it('case 30, D13: after it the target is asked: what is found settles, nothing is sent', () => {
    for (const lookup of [PROOF, HINT]) {
      const effect = new Effect(new Payments(), lookup);
      effect.call(0, true);
      expect(effect.recover(3 * DAY)).toBe('settle_found');
      expect(effect.target.done).toHaveLength(1);
    }
  });

  it('case 30, D13, D15: after it an absence sends again only where it is proof; otherwise a person is asked, for however long', () => {
    const hinted = new Effect(new Payments(), HINT);
    hinted.call(0, false);
    for (const now of [DAY, 3 * DAY, 400 * DAY]) expect(hinted.recover(now)).toBe('unknown');
    expect(hinted.target.done).toEqual([]);
    const proven = new Effect(new Payments(), PROOF);
    proven.call(0, false);
    expect(proven.recover(3 * DAY)).toBe('redispatch');
    expect(proven.recover(3 * DAY + HOUR)).toBe('settle_found');
    expect(proven.target.done).toHaveLength(1);
  });

  it('case 30, D13: what was planned in time and is held up until the key is forgotten is not sent', () => {
    const effect = new Effect(new Payments(), null);
    effect.call(0, true);
    expect(effect.recover(DAY - MINUTE, { heldUp: HOUR })).toBe('too_late');
    expect(effect.target.done).toHaveLength(1);
  });

  it('case 30, D14: arguments with another amount are others under the same key; the same amount in another spelling is the same', () => {
    const target = new Payments();
    const pay = (text: string) => {
      const parsed = parseArguments(text);
      return parsed.ok ? target.pay(parsed.args, 0) : parsed.problem;
    };
    expect(pay('{"order":"A1","amount":5}')).toBe('done');
    expect(pay('{ "amount": 5.0, "order": "A1" }')).toBe('same');
    expect(pay('{"order":"A1","amount":9000}')).toBe('conflict');
    expect(target.done).toHaveLength(1);
  });

  it('case 30, D13: whenever workers come and are lost, it is done once at most, and never again after it was done', () => {
    const visit = fc.record({ afterMs: fc.oneof(fc.integer({ min: 0, max: 5 * MINUTE }), fc.integer({ min: 0, max: 2 * DAY })), heldUp: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: DAY })), arrives: fc.boolean() });
    fc.assert(fc.property(fc.constantFrom(null, HINT, PROOF), fc.integer({ min: 0, max: 5 * DAY }), fc.boolean(), fc.array(visit, { maxLength: 20 }), (lookup, start, arrives, visits) => {
      const effect = new Effect(new Payments(), lookup);
      effect.call(start, arrives);
      let now = start;
      for (const { afterMs, ...how } of visits) {
        now += afterMs;
        effect.recover(now, how);
        now += how.heldUp + MINUTE;
      }
      expect(effect.target.done.length).toBeLessThanOrEqual(1);
    }), { numRuns: 3000 });
  });
});
