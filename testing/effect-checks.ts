import assert from 'node:assert/strict';
import type { EffectDefinition } from '../contracts/effect.js';
import { capabilitiesOf } from '../effects/capabilities.js';
import type { EffectAdapter, EffectCall, LookupResult, PerformResult } from '../effects/types.js';

/**
 * What the checks need of an adapter and of the world behind it. Faults strike the next call only. `loseAnswer`: the effect happens, the
 * caller does not learn it. `stall`: the call reaches the target and gets no answer.
 */
export interface EffectHarness<E extends EffectDefinition = EffectDefinition> {
  adapter: EffectAdapter<E>;
  /** A call whose arguments differ with `variant`. */
  call(key: string, variant?: number): EffectCall<E>;
  /** The same call to a place where nobody listens. Not used where the target is the ledger's own database. */
  unreachable(key: string): EffectCall<E>;
  /** How many effects really happened under a key. */
  happened(key: string): Promise<number>;
  loseAnswer(): Promise<void>;
  breakLookup(): Promise<void>;
  stall(): Promise<void>;
  /** Resolves when the stalled call has reached the target. */
  stalled(): Promise<void>;
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** What the target of a run can do: the rules that depend on it are checked, the others do not exist for it. */
export interface Offers {
  keys: boolean;
  lookup: boolean;
  /** The target is the ledger's own database (D18): without it there is no ledger either, and nobody has to be asked what happened. */
  inLedger?: true;
}

/** One rule of every effect adapter. `run` throws an `AssertionError` that says what came instead. For any test runner: `it(check.name, check.run)`. */
export interface EffectCheck {
  name: string;
  run(): Promise<void>;
}

/**
 * The rules that every effect adapter keeps, whatever its target can do (D10, D13, D14, D19): the conformance suite of Holdfast's own
 * adapters. `world` is asked when a check runs, so that it may be started later. Run them in order, one at a time, against one world.
 */
export function effectChecks<E extends EffectDefinition>(offers: Offers, world: () => EffectHarness<E>): EffectCheck[] {
  const rules = new Rules(world);
  return [
    ...callRules(rules), ...capabilityRules(rules, offers), ...(offers.inLedger === true ? [] : reachRules(rules)), ...recoveryRules(rules),
    ...(offers.lookup ? lookupRules(rules) : []), ...(offers.keys ? idempotencyRules(rules) : []),
  ];
}

/** Calls with a signal that never comes, and what they must come to. */
class Rules<E extends EffectDefinition> {
  constructor(readonly world: () => EffectHarness<E>) {}

  perform(call: EffectCall<E>, signal = new AbortController().signal): Promise<PerformResult> {
    return this.world().adapter.perform(call, signal);
  }

  async lookupIs(call: EffectCall<E>, kind: LookupResult['kind']): Promise<void> {
    const result = await this.world().adapter.lookup(call, new AbortController().signal);
    assert.equal(result.kind, kind, `the look-up must be ${kind}, but it said ${JSON.stringify(result)}`);
  }

  async performIs(performing: Promise<PerformResult>, ...kinds: PerformResult['kind'][]): Promise<PerformResult> {
    const result = await performing;
    assert.ok(kinds.includes(result.kind), `the call must be ${kinds.join(' or ')}, but it was ${JSON.stringify(result)}`);
    return result;
  }

  async happened(key: string, times: number): Promise<void> {
    assert.equal(await this.world().happened(key), times, `the effect under the key "${key}" must have happened ${times} times`);
  }
}

function callRules<E extends EffectDefinition>(rules: Rules<E>): EffectCheck[] {
  const { world } = rules;
  return [
    { name: 'D10: a call that succeeds has one effect', run: async () => {
      await rules.performIs(rules.perform(world().call('plain')), 'succeeded');
      await rules.happened('plain', 1);
    } },
    { name: 'D10: a call that was ended before it began is not_sent', run: async () => {
      await rules.performIs(rules.perform(world().call('early'), AbortSignal.abort()), 'not_sent');
      await rules.happened('early', 0);
    } },
    { name: 'D10: a lost answer is uncertain, although the effect happened', run: async () => {
      await world().loseAnswer();
      await rules.performIs(rules.perform(world().call('lost')), 'uncertain');
      await rules.happened('lost', 1);
    } },
    { name: 'D10: a call that is ended while it waits for its answer is uncertain', run: async () => {
      await world().stall();
      const end = new AbortController();
      const performing = rules.perform(world().call('ended'), end.signal);
      await world().stalled();
      end.abort();
      await rules.performIs(performing, 'uncertain');
      await world().heal();
    } },
  ];
}

function capabilityRules<E extends EffectDefinition>({ world }: Rules<E>, offers: Offers): EffectCheck[] {
  return [
    { name: 'D19: capabilities are plain data and do not change', run: async () => {
      const { effect } = world().call('caps');
      const capabilities = capabilitiesOf(effect);
      assert.deepEqual(JSON.parse(JSON.stringify(capabilities)), capabilities);
      assert.deepEqual(capabilitiesOf(effect), capabilities);
    } },
    { name: 'D19: the declared capabilities are those of the target', run: async () => {
      const capabilities = capabilitiesOf(world().call('caps').effect);
      assert.deepEqual({ keys: capabilities.idempotency !== null, lookup: capabilities.lookup !== null }, { keys: offers.keys, lookup: offers.lookup });
      assert.equal(capabilities.fencing, offers.inLedger === true, 'only the ledger itself refuses calls of an older owner');
    } },
  ];
}

function reachRules<E extends EffectDefinition>(rules: Rules<E>): EffectCheck[] {
  const { world } = rules;
  return [
    { name: 'D10: a target that cannot be reached is not_sent', run: async () => {
      await rules.performIs(rules.perform(world().unreachable('nobody')), 'not_sent');
      await rules.happened('nobody', 0);
    } },
    { name: 'D13: a look-up that fails is inconclusive, also for something that never happened', run: async () => {
      await world().breakLookup();
      await rules.lookupIs(world().call('never'), 'inconclusive');
      await world().heal();
    } },
  ];
}

function recoveryRules<E extends EffectDefinition>(rules: Rules<E>): EffectCheck[] {
  const { world } = rules;
  return [
    { name: 'D13: without a look-up the answer is inconclusive, never absent', run: async () => {
      const call = world().call('never');
      await rules.lookupIs({ ...call, effect: { ...call.effect, lookup: null } }, 'inconclusive');
    } },
  ];
}

function lookupRules<E extends EffectDefinition>(rules: Rules<E>): EffectCheck[] {
  const { world } = rules;
  return [
    { name: 'D13: a look-up finds what a lost answer hid', run: async () => {
      await world().loseAnswer();
      await rules.performIs(rules.perform(world().call('hidden')), 'uncertain');
      await rules.lookupIs(world().call('hidden'), 'found');
    } },
    { name: 'D13: a look-up of something that never happened says absent', run: () => rules.lookupIs(world().call('never'), 'absent') },
  ];
}

function idempotencyRules<E extends EffectDefinition>(rules: Rules<E>): EffectCheck[] {
  const { world } = rules;
  return [
    { name: 'D14: the same key and arguments give the same effect again', run: async () => {
      const first = await rules.performIs(rules.perform(world().call('twice')), 'succeeded');
      assert.deepEqual(await rules.perform(world().call('twice')), first);
      await rules.happened('twice', 1);
    } },
    { name: 'D14: the same key with other arguments has no second effect', run: async () => {
      await rules.perform(world().call('other', 1));
      await rules.performIs(rules.perform(world().call('other', 2)), 'conflict', 'succeeded');
      await rules.happened('other', 1);
    } },
    { name: 'D14: ten calls at once under one key have one effect', run: async () => {
      await Promise.all(Array.from({ length: 10 }, () => rules.perform(world().call('crowd'))));
      await rules.happened('crowd', 1);
    } },
  ];
}
