import { absent, conflict, defineEffect, found, notSent, succeeded, type DefinedEffect } from '../../index.js';
import { functionTarget } from '../../testing/index.js';
import { waitFor } from '../support/wait.js';
import { effectSuite, type EffectHarness, type Offers } from './effect-suite.js';
import type { FunctionEffect } from '../../contracts/effect.js';

interface Args {
  people: number;
}

/** An outside system in memory, with what it offers and faults that strike once. */
class Desk {
  readonly made: { key: string; people: number; id: string }[] = [];
  fault: 'lose' | 'stall' | 'lookup' | null = null;
  waiting = 0;

  constructor(private readonly offers: Offers) {}

  effect(): DefinedEffect<Args> {
    return defineEffect<Args>({
      perform: async ({ key, args, signal }) => {
        if (this.fault === 'stall') await this.wait(signal);
        const known = this.offers.keys ? this.made.find((item) => item.key === key) : undefined;
        if (known !== undefined && known.people !== args.people) return conflict('another table under this key');
        const item = known ?? { key, people: args.people, id: `T-${this.made.length + 1}` };
        if (known === undefined) this.made.push(item);
        if (this.fault === 'lose') {
          this.fault = null;
          throw new Error('the answer was lost');
        }
        return succeeded({ externalId: item.id, result: { id: item.id } });
      },
      ...(this.offers.lookup ? { lookup: ({ key }) => this.find(key) } : {}),
    });
  }

  private find(key: string) {
    if (this.fault === 'lookup') throw new Error('the register is closed');
    const item = this.made.find((one) => one.key === key);
    return item === undefined ? absent() : found({ externalId: item.id });
  }

  private async wait(signal: AbortSignal): Promise<never> {
    this.waiting += 1;
    await new Promise((_resolve, reject) => { signal.addEventListener('abort', () => reject(new Error('ended'))); });
    throw new Error('ended');
  }
}

async function start(offers: Offers): Promise<EffectHarness<FunctionEffect>> {
  const desk = new Desk(offers);
  const declared = { ...(offers.keys ? { idempotency: {} } : {}), ...(offers.lookup ? { lookup: { absence: 'authoritative' as const } } : {}) };
  const near = functionTarget(desk.effect(), declared);
  const far = functionTarget(defineEffect<Args>({ perform: () => notSent('nobody at the desk') }), declared);
  const farCalls = new Set<string>();
  return {
    adapter: { ...near.adapter, perform: (call, signal) => (farCalls.has(call.key) ? far : near).adapter.perform(call, signal) },
    call: (key, variant = 1) => near.call(key, { people: variant }),
    unreachable: (key) => {
      farCalls.add(key);
      return far.call(key, { people: 1 });
    },
    happened: async (key) => desk.made.filter((item) => item.key === key).length,
    loseAnswer: async () => { desk.fault = 'lose'; },
    breakLookup: async () => { desk.fault = 'lookup'; },
    stall: async () => { desk.fault = 'stall'; },
    stalled: async () => void (await waitFor(() => desk.waiting > 0, { what: 'the call to arrive' })),
    heal: async () => { desk.fault = null; },
    stop: async () => undefined,
  };
}

effectSuite('function with keys and look-up', { keys: true, lookup: true }, () => start({ keys: true, lookup: true }));
effectSuite('function with keys only', { keys: true, lookup: false }, () => start({ keys: true, lookup: false }));
effectSuite('function with look-up only', { keys: false, lookup: true }, () => start({ keys: false, lookup: true }));
effectSuite('function with neither', { keys: false, lookup: false }, () => start({ keys: false, lookup: false }));
