import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../contracts/json.js';

/** What is wrong with the schema of a tool's arguments, by the key it stands under; null when it can be used (D7). */
export function inputSchemaProblem(schema: JsonObject): { key: string; message: string } | null {
  if (schema.type !== 'object') return { key: 'input_schema.type', message: 'must be "object": arguments are always an object' };
  try {
    new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
    return null;
  } catch (error) {
    return { key: 'input_schema', message: `this is not a JSON Schema (2020-12): ${error instanceof Error ? error.message.slice(0, 300) : ''}` };
  }
}
