import type { ChildFunction, FunctionOf } from '../children/types.js';
import type { CompiledAgents } from '../config/compile.js';
import { throwProblems } from '../config/error.js';
import type { ConfigProblem } from '../config/error.js';
import type { FunctionChild } from '../contracts/definition.js';
import { CallError } from '../domain/failure.js';
import { ModuleProblem, loadExport } from './modules.js';

/**
 * Loads every function child of the agents before a worker starts; throws `ConfigError` for those that are missing or no function (I5). Functions
 * of definitions that another release has pinned are loaded when they are called (D34).
 */
export async function loadChildFunctions({ definitions, source: { file, dir } }: CompiledAgents): Promise<FunctionOf> {
  const loaded = new Map<string, Promise<ChildFunction>>();
  const functionOf = (child: FunctionChild): Promise<ChildFunction> => {
    const id = JSON.stringify([child.module, child.export]);
    const known = loaded.get(id) ?? load(dir, child);
    loaded.set(id, known);
    return known;
  };
  const children = definitions.flatMap(({ definition }) => definition.children.filter((child) => child.kind === 'function'));
  const problems = await Promise.all(children.map((child) => functionOf(child).then(() => null, (error: unknown) => problemOf(file, child, error))));
  throwProblems([...new Map(problems.filter((problem) => problem !== null).map((problem) => [problem.key, problem])).values()]);
  return (child) => functionOf(child).catch((error: unknown) => {
    throw new CallError('terminal', `the function of child "${child.name}" cannot be called: ${error instanceof Error ? error.message : String(error)}`);
  });
}

async function load(dir: string, child: FunctionChild): Promise<ChildFunction> {
  const value = await loadExport(dir, child.module, child.export);
  if (typeof value !== 'function') throw new Error(`"${child.export}" is no function; it must be async (input) => text or an object`);
  return value as ChildFunction;
}

function problemOf(file: string, child: FunctionChild, error: unknown): ConfigProblem {
  return { where: file, key: `children.${child.name}.${error instanceof ModuleProblem ? error.part : 'export'}`, message: error instanceof Error ? error.message : String(error) };
}
