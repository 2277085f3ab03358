import type { EffectDefinition } from '../contracts/effect.js';
import type { EffectAdapter } from './types.js';

/** Adapters by effect type; each gets effects of its own type only. */
export type Adapters = { [T in EffectDefinition['type']]: EffectAdapter<Extract<EffectDefinition, { type: T }>> };

/** Finds the adapter of an effect (D19, D20). A type without one comes from a definition that another release has written. */
export function adapterOf(adapters: Partial<Adapters>, effect: EffectDefinition): EffectAdapter {
  if (!Object.hasOwn(adapters, effect.type)) {
    throw new Error(`effect "${effect.name}" has type "${effect.type}"; this worker has adapters for: ${Object.keys(adapters).join(', ')}`);
  }
  // The only place where the type of an effect and that of its adapter meet.
  return adapters[effect.type] as EffectAdapter;
}
