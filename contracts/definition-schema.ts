import { z } from 'zod';
import type { AgentDefinition, ChildDefinition } from './definition.js';
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
  maxOutputTokens: z.number().nullable().default(null), price: z.strictObject({ input: z.number(), output: z.number() }).nullable().default(null),
});

const question = [z.strictObject({ url: z.string() }), z.strictObject({ query: z.string() }), z.strictObject({ function: z.literal(true) })] as const;
const condition = { expect: jsonObjectSchema };

const approvalSchema = z.strictObject({
  expiresInMs: z.number(), roles: z.array(z.string()), approvers: z.number(), requesterMayApprove: z.boolean(), attempts: z.number(),
  preview: z.union(question).nullable(),
  precondition: z.union([question[0].extend(condition), question[1].extend(condition), question[2].extend(condition)]).nullable(),
});

const headers = z.record(z.string(), z.string());
const idempotency = { retentionMs: z.number(), onMismatch: z.enum(['conflict', 'ignored']) };
const lookup = { absence: z.enum(['authoritative', 'eventual']), settleAfterMs: z.number(), everyMs: z.number() };

const common = {
  name: z.string(), description: z.string(), inputSchema: jsonObjectSchema, sequential: z.boolean(), timeoutMs: z.number(), maxConcurrent: z.number().nullable().default(null),
  unknown: z.union([z.strictObject({ retry: z.literal('never') }), z.strictObject({ retry: z.literal('bounded'), maxAttempts: z.number(), everyMs: z.number() })]),
  approval: approvalSchema.nullable(),
  compensates: z.strictObject({
    effect: z.string(), args: jsonObjectSchema, automatic: z.array(z.enum(['completed', 'cancelled', 'failed', 'rejected', 'budget_exceeded', 'expired'])),
  }).nullable().default(null),
  compensatedBy: z.string().nullable().default(null),
};
const plain = { idempotency: z.strictObject(idempotency).nullable(), lookup: z.strictObject(lookup).nullable() };

const effectSchema: z.ZodType<EffectDefinition> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('http'), ...common,
    http: z.strictObject({ method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']), url: z.string(), headersEnv: headers, resultId: z.string().nullable(), rejects: z.array(z.number()) }),
    idempotency: z.strictObject({ header: z.string(), ...idempotency }).nullable(),
    lookup: z.strictObject({ url: z.string(), ...lookup }).nullable(),
    correlation: z.union([z.strictObject({ header: z.string() }), z.strictObject({ field: z.string() })]).nullable(),
  }),
  z.strictObject({
    type: z.literal('postgres'), ...common, ...plain,
    postgres: z.strictObject({ dsnEnv: z.string().nullable(), statement: z.string(), resultId: z.string().nullable(), minRows: z.number() }),
  }),
  z.strictObject({
    type: z.literal('smtp'), ...common, ...plain,
    smtp: z.strictObject({
      host: z.string(), port: z.number(), security: z.enum(['tls', 'starttls', 'none']), userEnv: z.string().nullable(), passwordEnv: z.string().nullable(), from: z.string(),
    }),
  }),
  z.strictObject({
    type: z.literal('mcp'), ...common,
    mcp: z.strictObject({
      server: z.union([z.strictObject({ command: z.string(), args: z.array(z.string()), env: z.array(z.string()) }), z.strictObject({ url: z.string(), headersEnv: headers })]),
      tool: z.string(), resultId: z.string().nullable(), errors: z.enum(['rejected', 'uncertain']),
    }),
    idempotency: z.strictObject({ argument: z.string(), ...idempotency }).nullable(),
    lookup: z.strictObject({ tool: z.string(), args: jsonObjectSchema, ...lookup }).nullable(),
    correlation: z.strictObject({ argument: z.string() }).nullable(),
  }),
  z.strictObject({ type: z.literal('function'), ...common, ...plain, function: z.strictObject({ module: z.string(), export: z.string() }) }),
]);

const child = { name: z.string(), description: z.string(), input: z.enum(['context', 'conversation']) };

const childSchema: z.ZodType<ChildDefinition> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['model', 'agent']), ...child, digest: z.string(), detached: z.strictObject({ maxLifeMs: z.number() }).nullable().default(null) }),
  z.strictObject({ kind: z.literal('a2a'), ...child, url: z.string(), headersEnv: headers, timeoutMs: z.number(), pollMs: z.number(), idempotent: z.boolean() }),
  z.strictObject({ kind: z.literal('function'), ...child, module: z.string(), export: z.string(), inputSchema: jsonObjectSchema.nullable(), timeoutMs: z.number() }),
]);

const limit = z.number().nullable();

export const agentDefinitionSchema: z.ZodType<AgentDefinition> = z.strictObject({
  name: z.string(), instructions: z.string(), model: modelSchema,
  children: z.array(childSchema),
  effects: z.array(effectSchema), compensations: z.array(effectSchema).default([]), maxSteps: z.number(), askUser: z.boolean(),
  memory: z.strictObject({ backend: z.enum(['off', 'postgres']), windowSize: z.number(), historyAware: z.boolean() }),
  contextTurns: z.number(), contextRoles: z.array(z.enum(['user', 'assistant'])),
  summary: z.strictObject({
    agent: z.string(), digest: z.string(), timing: z.enum(['before_finalize', 'turn_end']), policy: z.record(z.string(), z.enum(['none', 'request', 'response', 'both'])),
  }).nullable(),
  budget: z.strictObject({ modelCalls: limit, tokens: limit, costMicros: limit, effects: limit, wallTimeMs: limit }).nullable().default(null),
});
