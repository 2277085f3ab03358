import type { CompiledAgents } from '../config/compile.js';
import type { ConfigProblem } from '../config/error.js';
import { throwProblems } from '../config/error.js';
import type { FunctionEffect } from '../contracts/effect.js';
import type { FindFunctions } from '../effects/function/adapter.js';
import type { DefinedEffect } from '../effects/function/define.js';
import { ModuleProblem, loadExport } from './modules.js';

type Loaded = { effect: DefinedEffect } | { problem: Omit<ConfigProblem, 'where'> };

/**
 * Loads the modules of all function effects when a worker starts (D20): exactly the files that the configuration names, relative to it.
 * Throws `ConfigError` with every module or export that is missing, is no effect, or has other capabilities than declared (D19).
 */
export async function loadFunctions({ definitions, source }: CompiledAgents): Promise<FindFunctions> {
  const effects = new Map(definitions.flatMap(({ definition }) => [...definition.effects, ...definition.compensations]).flatMap((effect) => (effect.type === 'function' ? [[effect.name, effect]] : [])));
  const loaded = await Promise.all([...effects.values()].map(async (effect): Promise<[FunctionEffect, Loaded]> => [effect, await loadEffect(effect, source.dir)]));
  throwProblems(loaded.flatMap(([, outcome]) => ('problem' in outcome ? [{ where: source.file, ...outcome.problem }] : [])));
  const byPlace = new Map(loaded.flatMap(([effect, outcome]) => ('effect' in outcome ? [[placeOf(effect), outcome.effect]] : [])));
  return (effect) => byPlace.get(placeOf(effect));
}

function placeOf({ function: { module, export: name } }: FunctionEffect): string {
  return JSON.stringify([module, name]);
}

async function loadEffect(effect: FunctionEffect, dir: string): Promise<Loaded> {
  const { module, export: name } = effect.function;
  const problem = (key: string, message: string): Loaded => ({ problem: { key: `effects.${effect.name}.${key}`, message } });
  let value: unknown;
  try {
    value = await loadExport(dir, module, name);
  } catch (error) {
    if (error instanceof ModuleProblem) return problem(error.part, error.message);
    throw error;
  }
  if (!isEffect(value)) return problem('export', `"${name}" of ${module} is not an effect; make it with defineEffect`);
  const mismatch = capabilityProblem(effect, value);
  return mismatch === null ? { effect: value } : problem(mismatch.key, mismatch.message);
}

/** By its mark, not by its class: the module may hold another copy of this package. */
function isEffect(value: unknown): value is DefinedEffect {
  return typeof value === 'object' && value !== null && 'holdfast' in value && value.holdfast === 'effect' && 'perform' in value && typeof value.perform === 'function';
}

function capabilityProblem(effect: FunctionEffect, functions: DefinedEffect): { key: string; message: string } | null {
  const { module } = effect.function;
  if (effect.lookup !== null && functions.lookup === undefined) return { key: 'lookup', message: `is declared, but ${module} has no lookup; write one or leave the section out` };
  if (effect.lookup === null && functions.lookup !== undefined) return { key: 'lookup', message: `is missing, but ${module} has a lookup; declare what its answers prove, or remove it` };
  const asked = (['preview', 'precondition'] as const).find((part) => effect.approval?.[part] != null && functions[part] === undefined);
  return asked === undefined ? null : { key: `approval.${asked}`, message: `is declared, but ${module} has no ${asked}; write one or leave the key out` };
}
