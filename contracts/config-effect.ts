import { z } from 'zod';
import { envNameSchema, headerNameSchema, pathSchema, textSchema, urlSchema, urlTemplateSchema } from './config-values.js';
import { durationSchema } from './duration.js';
import { jsonObjectSchema } from './json.js';
import { roleSchema } from './principal.js';

/** Status codes that mean "rejected, nothing happened" unless the effect says otherwise (D10). 408, 409, 429 and 5xx never do by default. */
export const DEFAULT_REJECTS = [400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422];

const idempotencySchema = z.strictObject({
  header: headerNameSchema.default('Idempotency-Key').describe('Header that carries the key'),
  retention: durationSchema('1s', '365d').prefault('24h').describe('How long the system remembers a key; never resent after it (D13)'),
  on_mismatch: z.enum(['conflict', 'ignored']).default('conflict').describe('What the system does with a known key and other arguments'),
});

const lookupSchema = z.strictObject({
  url: urlTemplateSchema.describe('GET address with `{key}` or `{args.NAME}`. 200 with an object or one array item: found; 404 or `[]`: absent'),
  absence: z.enum(['authoritative', 'eventual']).default('eventual').describe('`authoritative`: after `settle_after`, absent proves that nothing happened (D13)'),
  settle_after: durationSchema('0ms', '24h').prefault('2s').describe('How long after a call has ended its effect can still become visible'),
  every: durationSchema('100ms', '24h').prefault('30s').describe('How often an unknown entry is looked up again'),
});

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

const approvalSchema = z.strictObject({
  required: z.boolean().default(true).describe('`false` switches the section off'),
  expires_in: durationSchema('1s', '365d').prefault('15m').describe('Silence for this long expires the proposal (D24)'),
  roles: z.array(roleSchema).min(1).default(['approver']).describe('Roles that may decide'),
  approvers: z.int().min(1).max(10).default(1).describe('How many different people must approve (D26)'),
  requester_may_approve: z.boolean().optional().describe('Whether the requester may approve. Default: `true` in `dev` auth, the only mode of this version'),
  attempts: z.int().min(1).max(100).default(1).describe('Calls in all that one approval permits where another one could double the effect; a resend under the key, or after a proven absence, does not count'),
  preview: z.strictObject({ url: urlSchema.describe('POST `{key, args}` → `{before, after}`') }).optional().describe('Who tells before and after. Absent: the arguments are shown'),
  precondition: z
    .strictObject({
      url: urlTemplateSchema.describe('GET address, with `{key}` and `{args.NAME}`'),
      expect: jsonObjectSchema.describe('Fields that its answer must hold'),
    })
    .optional()
    .describe('Checked again at execution; nothing runs when it no longer holds (D25)'),
});

/** `[effects.NAME]`: an action on an external system (D19, I6). */
export const effectConfigSchema = z.strictObject({
  type: z.literal('http').describe('The adapter; `http` is the only one of this version'),
  description: textSchema.optional().describe('What it does, as the model sees it. Default: from its name'),
  input_schema: jsonObjectSchema.optional().describe('JSON Schema (2020-12) of the arguments, `type = "object"`. This or `input_schema_file` is required'),
  input_schema_file: pathSchema.optional().describe('JSON file that holds it, relative to the configuration file'),
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).default('POST').describe('The body is the arguments as JSON (I6)'),
  url: urlSchema.describe('Address that causes the effect'),
  headers_env: z.record(headerNameSchema, envNameSchema).default({}).describe('Header → variable that holds its value'),
  result_id: textSchema.optional().describe('Field of the answer that is the external id'),
  rejects: z.array(z.int().min(400).max(599)).default(DEFAULT_REJECTS).describe('Status codes by which the system says that nothing happened (D10)'),
  timeout: durationSchema('1ms', '24h').prefault('10s').describe('Limit of one call'),
  sequential: z.boolean().default(false).describe('Never in parallel with other calls of the same reply (D6)'),
  idempotency: idempotencySchema.optional().describe('Leave out if the system has no idempotency keys'),
  lookup: lookupSchema.optional().describe('Leave out if the system cannot be asked what happened'),
  correlation: correlationSchema.optional().describe('How a system without idempotency keys carries our key'),
  unknown: unknownSchema.prefault({}).describe('What to do when the outcome cannot be known'),
  approval: approvalSchema.optional().describe('Leave out if no person has to approve'),
});
