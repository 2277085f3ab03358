import { z } from 'zod';
import { sqlQuerySchema, urlSchema, urlTemplateSchema } from './config-values.js';
import { durationSchema } from './duration.js';
import { jsonObjectSchema } from './json.js';
import { roleSchema } from './principal.js';

const ONE_WAY = 'must have exactly one of: url, query (postgres), function = true (function)';
const oneWay = (value: { url?: string | undefined; query?: string | undefined; function?: true | undefined }): boolean =>
  [value.url, value.query, value.function].filter((way) => way !== undefined).length === 1;

const previewSchema = z
  .strictObject({
    url: urlSchema.optional().describe('POST `{key, args}` → `{before, after}`'),
    query: sqlQuerySchema.optional().describe('`postgres`: a query whose row is the state before; columns `before` and `after` are taken as such'),
    function: z.literal(true).optional().describe('`function`: the module\'s `preview`'),
  })
  .refine(oneWay, ONE_WAY);

const preconditionSchema = z
  .strictObject({
    url: urlTemplateSchema.optional().describe('GET address, with `{key}` and `{args.NAME}`'),
    query: sqlQuerySchema.optional().describe('`postgres`: a query; it must return a row'),
    function: z.literal(true).optional().describe('`function`: the module\'s `precondition`'),
    expect: jsonObjectSchema.default({}).describe('Fields that its answer must hold'),
  })
  .refine(oneWay, ONE_WAY);

/** `[effects.NAME.approval]`: who decides, and what they are shown (D21, D26). */
export const approvalSchema = z.strictObject({
  required: z.boolean().default(true).describe('`false` switches the section off'),
  expires_in: durationSchema('1s', '365d').prefault('15m').describe('Silence for this long expires the proposal (D24)'),
  roles: z.array(roleSchema).min(1).default(['approver']).describe('Roles that may decide'),
  approvers: z.int().min(1).max(10).default(1).describe('How many different people must approve (D26)'),
  requester_may_approve: z.boolean().optional().describe('Whether the requester may approve. Default: `true` in `dev` auth, the only mode of this version'),
  attempts: z.int().min(1).max(100).default(1).describe('Calls in all that one approval permits where another one could double the effect; a resend under the key, or after a proven absence, does not count'),
  preview: previewSchema.optional().describe('Who tells before and after. Absent: the arguments are shown'),
  precondition: preconditionSchema.optional().describe('Checked again at execution; nothing runs when it no longer holds (D25)'),
});
