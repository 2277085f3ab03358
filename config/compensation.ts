import type { HoldfastConfig } from '../contracts/config.js';

/** The effect that undoes this one, by name; null when none does (D29). */
export function compensationOf(config: HoldfastConfig, name: string): string | null {
  return Object.keys(config.effects).find((candidate) => config.effects[candidate]?.compensates === name) ?? null;
}
