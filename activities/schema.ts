import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { AgentDefinition } from '../contracts/definition.js';
import type { JsonObject } from '../contracts/json.js';
import { effectOf } from '../domain/effect-of.js';
import { ASK_USER } from '../domain/judge-reply.js';
import type { SchemaCheck } from '../domain/judge-reply.js';

const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
const compiled = new WeakMap<JsonObject, ValidateFunction>();

/** What a child is called with. */
export const CHILD_SCHEMA: JsonObject = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', minLength: 1, description: 'The request, complete in itself' } },
  additionalProperties: false,
};

export const ASK_SCHEMA: JsonObject = {
  type: 'object',
  required: ['question'],
  properties: { question: { type: 'string', minLength: 1 } },
  additionalProperties: false,
};

export function schemaOf(definition: AgentDefinition, tool: string): JsonObject {
  if (tool === ASK_USER) return ASK_SCHEMA;
  const child = definition.children.find((candidate) => candidate.name === tool);
  if (child?.kind === 'function' && child.inputSchema !== null) return child.inputSchema;
  return effectOf(definition, tool)?.inputSchema ?? CHILD_SCHEMA;
}

/** Checks arguments of any tool of an agent; schemas compile once per pinned definition (D7). */
export function schemaCheck(definition: AgentDefinition): SchemaCheck {
  return (tool, args) => schemaProblem(schemaOf(definition, tool), args);
}

export function schemaProblem(schema: JsonObject, args: JsonObject): string | null {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  if (validate(args)) return null;
  const [first] = validate.errors ?? [];
  const where = first?.instancePath === '' || first === undefined ? 'the arguments' : first.instancePath.slice(1).replaceAll('/', '.');
  return `${where} ${first?.message ?? 'do not fit the schema'}`;
}
