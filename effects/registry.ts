import type { EffectDefinition } from '../contracts/effect.js';
import type { EffectAdapter } from './types.js';

/** Finds the adapter of an effect (D19, D20). */
export interface Effects {
  adapter(effect: EffectDefinition): EffectAdapter;
}

/** Adapters by effect type. An effect whose type has no adapter is a defect of the composition root and throws. */
export function createEffects(adapters: Record<EffectDefinition['type'], EffectAdapter>): Effects {
  return {
    adapter(effect) {
      if (!Object.hasOwn(adapters, effect.type)) {
        throw new Error(`effect "${effect.name}" has type "${effect.type}"; this worker has adapters for: ${Object.keys(adapters).join(', ')}`);
      }
      return adapters[effect.type];
    },
  };
}
