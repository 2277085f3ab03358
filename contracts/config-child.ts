import { z } from 'zod';
import { envNameSchema, headerNameSchema, pathSchema, textSchema, urlSchema } from './config-values.js';
import { durationSchema } from './duration.js';
import { jsonObjectSchema } from './json.js';

/** What every child of these types has. */
const common = {
  description: textSchema.optional().describe('What it does, as its parent agents see it. Default: from its name'),
  input: z.enum(['context', 'conversation']).default('context').describe('The request only, or the bounded conversation of the parent too (W2)'),
};

const a2aChildSchema = z.strictObject({
  type: z.literal('a2a').describe('A remote agent that speaks A2A'),
  ...common,
  url: urlSchema.describe('Address of the agent, or of its card when it ends in `.json`. Nothing is sent to another origin'),
  headers_env: z.record(headerNameSchema, envNameSchema).default({}).describe('Header → variable that holds its value'),
  timeout: durationSchema('100ms', '24h').prefault('5m').describe('How long its task may take; then it is cancelled'),
  poll: durationSchema('50ms', '10m').prefault('1s').describe('First wait between two looks at its task; later ones are longer, up to ten times'),
  idempotent: z.boolean().default(false).describe('`true` only if it starts nothing new for a message id that it has seen: a lost message is then sent again (D13)'),
});

const functionChildSchema = z.strictObject({
  type: z.literal('function').describe('A function written in TypeScript. It must be safe to repeat (D12)'),
  ...common,
  module: pathSchema.describe('JavaScript module, relative to the configuration file'),
  export: textSchema.default('default').describe('Name under which it exports the function'),
  input_schema: jsonObjectSchema.optional().describe('JSON Schema (2020-12) of its arguments, `type = "object"`. Default: `text`, the request'),
  timeout: durationSchema('1ms', '24h').prefault('60s').describe('Limit of one call'),
});

/** `[children.NAME]`: a child that is no agent of this file (D32). */
export const childConfigSchema = z.discriminatedUnion('type', [a2aChildSchema, functionChildSchema]);
