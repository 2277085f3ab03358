import { afterAll, beforeAll, describe, it } from 'vitest';
import type { EffectDefinition } from '../../contracts/effect.js';
import { effectChecks, type EffectHarness, type Offers } from '../../testing/index.js';

export type { EffectHarness, Offers } from '../../testing/index.js';

/** Registers the public conformance checks with vitest, against one world. */
export function effectSuite<E extends EffectDefinition>(name: string, offers: Offers, start: () => Promise<EffectHarness<E>>): void {
  describe(`${name}: rules of every effect adapter`, () => {
    let world: EffectHarness<E>;
    beforeAll(async () => { world = await start(); });
    afterAll(async () => { await world.stop(); });
    for (const { name: title, run } of effectChecks(offers, () => world)) it(title, run);
  });
}
