import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * What a module of the application exports under a name (D20, D32): the only place that loads code by a name that the configuration gives.
 * `module` is relative to `dir`. Throws an error that says what is wrong, for the person who wrote the configuration.
 */
export async function loadExport(dir: string, module: string, name: string): Promise<unknown> {
  const path = resolve(dir, module);
  let exports: object;
  try {
    exports = (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    throw new Error(`the module cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!Object.hasOwn(exports, name)) throw new Error(`the module exports no "${name}"; it exports: ${Object.keys(exports).join(', ') || 'nothing'}`);
  return (exports as Record<string, unknown>)[name];
}
