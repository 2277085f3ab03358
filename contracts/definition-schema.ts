import { z } from 'zod';
import type { AgentDefinition } from './definition.js';
import type { EffectDefinition } from './effect.js';
import { jsonObjectSchema } from './json.js';
import type { ModelDefinition } from './model.js';

/**
 * How this build reads a stored definition (D34). Strict on purpose: a field that it does not know may carry meaning that it would drop, and
 * then the turn waits as `needs_migration`. A field that came after the first release needs a default that keeps the old meaning.
 */
const ruleSchema = z.strictObject({
  agent: z.string().nullable(), user: z.string().nullable(), after: z.string().nullable(), result: z.string().nullable(), reply: z.string().nullable(),
  calls: z.array(z.strictObject({ tool: z.string(), args: jsonObjectSchema })),
});

const modelSchema: z.ZodType<ModelDefinition> = z.strictObject({
  alias: z.string(), provider: z.enum(['openai', 'anthropic', 'google', 'openai_compatible', 'offline']), model: z.string(), baseUrl: z.string().nullable(),
  apiKeyEnv: z.string().nullable(), timeoutMs: z.number(), rules: z.array(ruleSchema),
});

const approvalSchema = z.strictObject({
  expiresInMs: z.number(), roles: z.array(z.string()), approvers: z.number(), requesterMayApprove: z.boolean(), attempts: z.number(),
  preview: z.strictObject({ url: z.string() }).nullable(), precondition: z.strictObject({ url: z.string(), expect: jsonObjectSchema }).nullable(),
});

const effectSchema: z.ZodType<EffectDefinition> = z.strictObject({
  name: z.string(), type: z.literal('http'), description: z.string(), inputSchema: jsonObjectSchema, sequential: z.boolean(), timeoutMs: z.number(),
  http: z.strictObject({
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']), url: z.string(), headersEnv: z.record(z.string(), z.string()), resultId: z.string().nullable(), rejects: z.array(z.number()),
  }),
  idempotency: z.strictObject({ header: z.string(), retentionMs: z.number(), onMismatch: z.enum(['conflict', 'ignored']) }).nullable(),
  lookup: z.strictObject({ url: z.string(), absence: z.enum(['authoritative', 'eventual']), settleAfterMs: z.number(), everyMs: z.number() }).nullable(),
  correlation: z.union([z.strictObject({ header: z.string() }), z.strictObject({ field: z.string() })]).nullable(),
  unknown: z.union([z.strictObject({ retry: z.literal('never') }), z.strictObject({ retry: z.literal('bounded'), maxAttempts: z.number(), everyMs: z.number() })]),
  approval: approvalSchema.nullable(),
});

export const agentDefinitionSchema: z.ZodType<AgentDefinition> = z.strictObject({
  name: z.string(), instructions: z.string(), model: modelSchema,
  children: z.array(z.strictObject({ name: z.string(), kind: z.enum(['model', 'agent']), description: z.string(), input: z.enum(['context', 'conversation']), digest: z.string() })),
  effects: z.array(effectSchema), maxSteps: z.number(), askUser: z.boolean(),
  memory: z.strictObject({ backend: z.enum(['off', 'postgres']), windowSize: z.number(), historyAware: z.boolean() }),
  contextTurns: z.number(), contextRoles: z.array(z.enum(['user', 'assistant'])),
  summary: z.strictObject({
    agent: z.string(), digest: z.string(), timing: z.enum(['before_finalize', 'turn_end']), policy: z.record(z.string(), z.enum(['none', 'request', 'response', 'both'])),
  }).nullable(),
});
