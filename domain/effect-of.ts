import type { AgentDefinition } from '../contracts/definition.js';
import type { EffectDefinition } from '../contracts/effect.js';

/** An effect of an agent by name: one that its model may call, or one that undoes such a one (D29). */
export function effectOf(definition: AgentDefinition, name: string): EffectDefinition | undefined {
  return definition.effects.find((effect) => effect.name === name) ?? compensationOf(definition, name);
}

/** An effect of an agent that only undoes others. */
export function compensationOf(definition: AgentDefinition, name: string): EffectDefinition | undefined {
  return definition.compensations.find((effect) => effect.name === name);
}
