import { z } from 'zod';
import { approvalSchema } from './config-approval.js';
import { envNameSchema, headerNameSchema, pathSchema, sqlStatementSchema, textSchema, urlSchema, urlTemplateSchema } from './config-values.js';
import { durationSchema } from './duration.js';
import { jsonObjectSchema } from './json.js';
import { senderSchema } from './mail.js';
import { agentNameSchema } from './turn.js';

/** Status codes that mean "rejected, nothing happened" unless the effect says otherwise (D10). 408, 409, 429 and 5xx never do by default. */
export const DEFAULT_REJECTS = [400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422];

const idempotency = {
  retention: durationSchema('1s', '365d').prefault('24h').describe('How long the system remembers a key; never resent after it (D13)'),
  on_mismatch: z.enum(['conflict', 'ignored']).default('conflict').describe('What the system does with a known key and other arguments'),
};

const lookup = {
  absence: z.enum(['authoritative', 'eventual']).default('eventual').describe('`authoritative`: after `settle_after`, absent proves that nothing happened (D13)'),
  settle_after: durationSchema('0ms', '24h').prefault('2s').describe('How long after a call has ended its effect can still become visible'),
  every: durationSchema('100ms', '24h').prefault('30s').describe('How often an unknown entry is looked up again'),
};

const ONE_OF_CORRELATION = 'must be { header = "…" } or { field = "…" }';
const correlationSchema = z
  .strictObject({
    header: headerNameSchema.optional().describe('Header that carries the key'),
    field: textSchema.optional().describe('Field of the body that carries the key'),
  })
  .refine((value) => (value.header === undefined) !== (value.field === undefined), ONE_OF_CORRELATION);

const unknownSchema = z.strictObject({
  retry: z
    .union([
      z.literal('never'),
      z.strictObject({ max_attempts: z.int().min(1).max(100), every: durationSchema('100ms', '24h').prefault('30s') }),
    ], { error: 'must be "never" or { max_attempts = 3, every = "30s" }' })
    .prefault('never')
    .meta({ kind: '`"never"` or `{ max_attempts, every }`' })
    .describe('Whether to try again when the outcome cannot be known; each try may cause the effect a second time (D13)'),
});

/** Arguments of an effect that undoes another one, where its section names none. */
export const UNDO_ARGS = { id: '{external_id}' };

const compensationSchema = z.strictObject({
  args: jsonObjectSchema.default(UNDO_ARGS).describe('Its arguments; `{external_id}` and `{NAME}` stand for the external id and the arguments of the effect that is undone'),
  automatic: z
    .array(z.enum(['cancelled', 'failed', 'expired', 'budget_exceeded', 'rejected']))
    .default([])
    .describe('Ends of a turn after which its effects are undone without anybody asking; its own approval still holds'),
});

/** What every type has. Where one has a meaning or a default of its own, its section says so. */
const common = {
  description: textSchema.optional().describe('What it does, as the model sees it. Default: from its name'),
  input_schema: jsonObjectSchema.optional().describe('JSON Schema (2020-12) of the arguments, `type = "object"`. This or `input_schema_file` is required'),
  input_schema_file: pathSchema.optional().describe('JSON file that holds it, relative to the configuration file'),
  timeout: durationSchema('1ms', '24h').prefault('10s').describe('Limit of one call'),
  max_concurrent: z.int().min(1).max(10_000).optional().describe('Calls that one worker runs at once; a call counts until it has really ended (D27). Absent: no limit'),
  sequential: z.boolean().default(false).describe('Never in parallel with other calls of the same reply (D6)'),
  unknown: unknownSchema.prefault({}).describe('What to do when the outcome cannot be known'),
  compensates: agentNameSchema.optional().describe('Effect that this one undoes (D29)'),
  compensation: compensationSchema.optional().describe('How it undoes the effect that `compensates` names'),
};

const LEAVE_OUT_KEYS = 'Leave out if the system has no idempotency keys';
const LEAVE_OUT_LOOKUP = 'Leave out if the system cannot be asked what happened';
const resultId = (what: string) => textSchema.optional().describe(`${what} that is the external id`);

const httpEffectSchema = z.strictObject({
  type: z.literal('http').describe('An HTTP call declared here'),
  ...common,
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).default('POST').describe('The body is the arguments as JSON (I6)'),
  url: urlTemplateSchema.describe('Address that causes the effect; `{args.NAME}` may stand in its path'),
  headers_env: z.record(headerNameSchema, envNameSchema).default({}).describe('Header → variable that holds its value'),
  result_id: resultId('Field of the answer'),
  rejects: z.array(z.int().min(400).max(599)).default(DEFAULT_REJECTS).describe('Status codes by which the system says that nothing happened (D10)'),
  idempotency: z.strictObject({ header: headerNameSchema.default('Idempotency-Key').describe('Header that carries the key'), ...idempotency }).optional().describe(LEAVE_OUT_KEYS),
  lookup: z
    .strictObject({
      url: urlTemplateSchema.describe('GET address with `{key}` or `{args.NAME}`. 200 with an object or one array item: found; 404 or `[]`: absent'),
      ...lookup,
    })
    .optional()
    .describe(LEAVE_OUT_LOOKUP),
  correlation: correlationSchema.optional().describe('How a system without idempotency keys carries our key'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});

const postgresEffectSchema = z.strictObject({
  type: z.literal('postgres').describe('A statement in a database of the application (D18)'),
  ...common,
  dsn_env: envNameSchema.optional().describe('Variable that holds the DSN. Absent: the ledger\'s own database, in the same transaction as the ledger'),
  statement: sqlStatementSchema.describe('One SQL statement; `{args.NAME}` and `{key}` become its parameters'),
  result_id: resultId('Column of the first returned row'),
  min_rows: z.int().min(0).max(1_000_000).optional().describe('Fewer rows than this, returned or changed: nothing is kept and the effect has failed. Default: 1; of a `call`, which reports no rows, 0'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});

const smtpEffectSchema = z.strictObject({
  type: z.literal('smtp').describe('A mail; whether a lost one was sent cannot be known (D20)'),
  ...common,
  input_schema: common.input_schema.describe('JSON Schema of the arguments. Default: `to`, `cc`, `subject`, `text`, `html`; a schema of your own may narrow these, it has no others'),
  host: textSchema.describe('Name or address of the mail server'),
  port: z.int().min(1).max(65_535).default(587).describe('Its port'),
  security: z.enum(['starttls', 'tls', 'none']).default('starttls').describe('`starttls` is required, not only tried; `tls` from the first byte'),
  user_env: envNameSchema.optional().describe('Variable that holds the user name; with `password_env`'),
  password_env: envNameSchema.optional().describe('Variable that holds the password'),
  from: senderSchema.describe('Sender of every mail, with or without a name'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});

const mcpEffectSchema = z.strictObject({
  type: z.literal('mcp').describe('A tool of an MCP server (D20)'),
  ...common,
  command: textSchema.optional().describe('Program of a server on standard input and output. This or `url`'),
  args: z.array(z.string()).default([]).describe('Its arguments'),
  env: z.array(envNameSchema).default([]).describe('Variables that are passed on to it'),
  url: urlSchema.optional().describe('Address of a server over HTTP'),
  headers_env: z.record(headerNameSchema, envNameSchema).default({}).describe('Header → variable that holds its value'),
  tool: textSchema.optional().describe('Name of the tool. Default: the name of the effect'),
  result_id: resultId('Field of the result'),
  errors: z.enum(['rejected', 'uncertain']).default('uncertain').describe('What a result with `isError`, or "invalid params", means. `rejected` only if the tool then never has changed anything (D10)'),
  idempotency: z.strictObject({ argument: textSchema.describe('Argument of the tool that carries the key'), ...idempotency }).optional().describe(LEAVE_OUT_KEYS),
  lookup: z
    .strictObject({
      tool: textSchema.describe('Tool that is asked. One item with the `result_id`: found; an empty list or null: absent'),
      args: jsonObjectSchema.default({}).describe('Its arguments; `"{key}"` and `"{args.NAME}"` are replaced'),
      ...lookup,
    })
    .optional()
    .describe(LEAVE_OUT_LOOKUP),
  correlation: z.strictObject({ argument: textSchema.describe('Argument of the tool that carries the key') }).optional().describe('How a tool without idempotency keys carries our key'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});

const functionEffectSchema = z.strictObject({
  type: z.literal('function').describe('A function written in TypeScript (D20)'),
  ...common,
  module: pathSchema.describe('JavaScript module, relative to the configuration file'),
  export: textSchema.default('default').describe('Name under which it exports the effect, made with `defineEffect`'),
  idempotency: z.strictObject(idempotency).optional().describe('Leave out if `perform` may not be called again under the same key'),
  lookup: z.strictObject(lookup).optional().describe('Leave out if the module has no `lookup`'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});

/** `[effects.NAME]`: an action on an external system (D19, I6). */
export const effectConfigSchema = z.discriminatedUnion('type', [httpEffectSchema, postgresEffectSchema, smtpEffectSchema, mcpEffectSchema, functionEffectSchema]);
