import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suggestion } from '../config/nearest.js';

/** What is wrong with a module of the application, in words for the person who wrote the configuration. `part`: the key that is to blame. */
export class ModuleProblem extends Error {
  constructor(
    readonly part: 'module' | 'export',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * What a module of the application exports under a name (D20, D32): the only place that loads code by a name that the configuration gives.
 * `module` is relative to `dir`.
 * @throws ModuleProblem
 */
export async function loadExport(dir: string, module: string, name: string): Promise<unknown> {
  let exports: Record<string, unknown>;
  try {
    exports = (await import(pathToFileURL(resolve(dir, module)).href)) as Record<string, unknown>;
  } catch (error) {
    throw new ModuleProblem('module', `${module} cannot be loaded: ${reasonOf(error)}`, { cause: error });
  }
  if (!Object.hasOwn(exports, name)) throw new ModuleProblem('export', `${module} exports nothing named "${name}"${suggestion(name, Object.keys(exports))}`);
  return exports[name];
}

/** First line only: an import's error may quote source text. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split('\n')[0] ?? '').slice(0, 300);
}
