import type { HoldfastConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';
import { inputSchemaProblem } from './input-schema.js';

/** What the keys of a child must fulfil beyond their own form (D32). Whether a module can be loaded is seen when a worker starts. */
export function checkChildren(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.children).flatMap(([name, child]) => {
    const found = child.type === 'function' && child.input_schema !== undefined ? inputSchemaProblem(child.input_schema) : null;
    return found === null ? [] : [{ where: config.file, key: `children.${name}.${found.key}`, message: found.message }];
  });
}
