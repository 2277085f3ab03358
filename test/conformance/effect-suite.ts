import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EffectDefinition } from '../../contracts/effect.js';
import { capabilitiesOf } from '../../effects/capabilities.js';
import type { EffectAdapter, EffectCall } from '../../effects/types.js';

/**
 * What the suite needs of an adapter and of the world behind it. Faults strike the next call only. `loseAnswer`: the effect happens, the
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

const calm = (): AbortSignal => new AbortController().signal;

/** What the target of a run can do: the rules that depend on it are run, the others do not exist for it. */
export interface Offers {
  keys: boolean;
  lookup: boolean;
  /** The target is the ledger's own database (D18): without it there is no ledger either, and nobody has to be asked what happened. */
  inLedger?: true;
}

/** The rules that every adapter keeps, whatever its target can do. */
export function effectSuite<E extends EffectDefinition>(name: string, offers: Offers, start: () => Promise<EffectHarness<E>>): void {
  describe(`${name}: rules of every effect adapter`, () => {
    let world: EffectHarness<E>;
    beforeAll(async () => { world = await start(); });
    afterAll(async () => { await world.stop(); });

    it('D19: capabilities are plain data and do not change', () => {
      const { effect } = world.call('caps');
      const capabilities = capabilitiesOf(effect);
      expect(JSON.parse(JSON.stringify(capabilities))).toEqual(capabilities);
      expect(capabilitiesOf(effect)).toEqual(capabilities);
    });

    it('D10: a call that succeeds has one effect', async () => {
      expect((await world.adapter.perform(world.call('plain'), calm())).kind).toBe('succeeded');
      expect(await world.happened('plain')).toBe(1);
    });

    if (offers.inLedger !== true) reachRules(() => world);

    it('D10: a call that was ended before it began is not_sent', async () => {
      expect((await world.adapter.perform(world.call('early'), AbortSignal.abort())).kind).toBe('not_sent');
      expect(await world.happened('early')).toBe(0);
    });

    it('D10: a lost answer is uncertain, although the effect happened', async () => {
      await world.loseAnswer();
      expect((await world.adapter.perform(world.call('lost'), calm())).kind).toBe('uncertain');
      expect(await world.happened('lost')).toBe(1);
    });

    it('D10: a call that is ended while it waits for its answer is uncertain', async () => {
      await world.stall();
      const end = new AbortController();
      const performing = world.adapter.perform(world.call('ended'), end.signal);
      await world.stalled();
      end.abort();
      expect((await performing).kind).toBe('uncertain');
      await world.heal();
    });

    it('D19: the declared capabilities are those of the target', () => {
      const capabilities = capabilitiesOf(world.call('caps').effect);
      expect({ keys: capabilities.idempotency !== null, lookup: capabilities.lookup !== null }).toEqual({ keys: offers.keys, lookup: offers.lookup });
      expect(capabilities.fencing, 'only the ledger itself refuses calls of an older owner').toBe(offers.inLedger === true);
    });

    it('D13: without a look-up the answer is inconclusive, never absent', async () => {
      const call = world.call('never');
      const blind = { ...call, effect: { ...call.effect, lookup: null } };
      expect((await world.adapter.lookup(blind, calm())).kind).toBe('inconclusive');
    });

    if (offers.lookup) lookupRules(() => world);
    if (offers.keys) idempotencyRules(() => world);
  });
}

function reachRules<E extends EffectDefinition>(world: () => EffectHarness<E>): void {
  it('D10: a target that cannot be reached is not_sent', async () => {
    expect((await world().adapter.perform(world().unreachable('nobody'), calm())).kind).toBe('not_sent');
    expect(await world().happened('nobody')).toBe(0);
  });

  it('D13: a look-up that fails is inconclusive, also for something that never happened', async () => {
    await world().breakLookup();
    expect((await world().adapter.lookup(world().call('never'), calm())).kind).toBe('inconclusive');
    await world().heal();
  });
}

function lookupRules<E extends EffectDefinition>(world: () => EffectHarness<E>): void {
  it('D13: a look-up finds what a lost answer hid', async () => {
    await world().loseAnswer();
    await world().adapter.perform(world().call('hidden'), calm());
    expect((await world().adapter.lookup(world().call('hidden'), calm())).kind).toBe('found');
  });

  it('D13: a look-up of something that never happened says absent', async () => {
    expect((await world().adapter.lookup(world().call('never'), calm())).kind).toBe('absent');
  });
}

function idempotencyRules<E extends EffectDefinition>(world: () => EffectHarness<E>): void {
  it('D14: the same key and arguments give the same effect again', async () => {
    const first = await world().adapter.perform(world().call('twice'), calm());
    const second = await world().adapter.perform(world().call('twice'), calm());
    expect(second).toEqual(first);
    expect(await world().happened('twice')).toBe(1);
  });

  it('D14: the same key with other arguments has no second effect', async () => {
    await world().adapter.perform(world().call('other', 1), calm());
    const second = await world().adapter.perform(world().call('other', 2), calm());
    expect(['conflict', 'succeeded']).toContain(second.kind);
    expect(await world().happened('other')).toBe(1);
  });

  it('D14: ten calls at once under one key have one effect', async () => {
    await Promise.all(Array.from({ length: 10 }, () => world().adapter.perform(world().call('crowd'), calm())));
    expect(await world().happened('crowd')).toBe(1);
  });
}
