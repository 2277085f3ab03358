import { z } from '@hono/zod-openapi';
import { approvalStateSchema, decisionSchema } from '../contracts/approval.js';
import { parseDuration } from '../contracts/duration.js';
import { exactJsonSchema, jsonSchema } from '../contracts/json.js';
import { entryKindSchema, ledgerStateSchema, settlementSchema } from '../contracts/ledger.js';
import { MAX_LIST } from '../contracts/list.js';
import { agentNameSchema, senderThreadIdSchema, submitSchema, threadIdSchema, turnStatusSchema } from '../contracts/turn.js';
import { problemSchema } from './problem.js';

// The OpenAPI generator would follow this recursive type for ever; "any JSON" says the same.
for (const any of [jsonSchema, exactJsonSchema]) any.register(z.globalRegistry, { type: ['null', 'boolean', 'number', 'string', 'array', 'object'] });

/** Longest `?wait=` in milliseconds: above it proxies give up. */
export const MAX_WAIT_MS = 120_000;

const waitSchema = z
  .string()
  .refine((text) => (parseDuration(text) ?? Infinity) <= MAX_WAIT_MS, 'a duration up to 120s, such as "30s"')
  .optional()
  .describe('Wait up to this long for the turn to end or to need a person, such as "30s"');

const limitSchema = z.coerce.number().int().min(1).max(MAX_LIST).optional();
const idParam = z.string().min(1).max(600);

export const threadParams = z.object({ agent: agentNameSchema, thread: senderThreadIdSchema });
export const idParams = z.object({ id: idParam });
export const keyParams = z.object({ key: idParam });
export const waitQuery = z.strictObject({ wait: waitSchema });
export const turnsQuery = z.strictObject({ status: turnStatusSchema.optional(), thread: threadIdSchema.optional(), limit: limitSchema });
export const approvalsQuery = z.strictObject({ thread: threadIdSchema.optional(), state: approvalStateSchema.optional(), limit: limitSchema });
export const ledgerQuery = z.strictObject({ state: ledgerStateSchema.optional(), turn: idParam.optional(), kind: entryKindSchema.optional(), limit: limitSchema });

export const submitBody = submitSchema.partial({ requestId: true });
export const cancelBody = z.strictObject({ reason: z.string().max(2000).optional() });
export const compensationBody = z.strictObject({ reason: z.string().min(1).max(2000) });
export const reconcileBody = z.strictObject({ key: idParam.optional() });
export { decisionSchema as decisionBody, settlementSchema as settlementBody };

/** Answers that say what became of a request. */
export const cancelAnswer = z.object({ result: z.enum(['cancelling', 'already_ended']), turnId: z.string(), status: turnStatusSchema });
export { migratedSchema as migrateAnswer, migrationSchema as migrateBody } from '../contracts/migration.js';
export const decisionAnswer = z.object({
  result: z.enum(['approved', 'rejected', 'recorded', 'edited']), approvalId: z.string(), version: z.number().int(), hash: z.string(),
});
export const settleAnswer = z.object({ result: z.enum(['settled', 'retrying']), key: z.string(), version: z.number().int(), generation: z.number().int() });

export const compensationAnswer = z.object({ result: z.enum(['begun', 'being_undone']), turnId: z.string().describe('The turn that undoes it'), workflowId: z.string() });

/** A JSON answer with this body. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** A required JSON request body. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true, content: { 'application/json': { schema } } };
}

/** Every route may answer with a problem. */
export const problems = {
  default: { description: 'A problem document (RFC 9457) with a stable `code`', content: { 'application/problem+json': { schema: problemSchema } } },
};
