import { z } from 'zod';
import { envNameSchema, pathSchema, textSchema, urlSchema } from './config-values.js';
import { durationSchema } from './duration.js';
import { jsonObjectSchema } from './json.js';
import { agentNameSchema } from './turn.js';

/** A rule of the offline model (I6); its meaning is at `OfflineRule` in model.ts. */
export const offlineRuleConfigSchema = z.strictObject({
  agent: agentNameSchema.optional().describe('The calling agent. Absent: any'),
  user: z.string().optional().describe('Regular expression on the newest user text. Absent: any'),
  after: agentNameSchema.optional().describe('Tool whose result came last in this turn. Absent: none yet'),
  result: z.string().optional().describe('Regular expression on the text of that last result. Absent: any'),
  reply: z.string().optional().describe('Text to answer. `{name}` is a named group of `user`; `{result}`, `{result.FIELD}` the last result'),
  calls: z
    .array(z.strictObject({
      tool: agentNameSchema.describe('Child or effect to call'),
      args: jsonObjectSchema.default({}).describe('Its arguments, with the same placeholders; `"{name:int}"` is a number'),
    }))
    .default([])
    .describe('Tools to call'),
});

/** `[models.NAME]`: how to reach a model. */
export const modelConfigSchema = z.strictObject({
  provider: z.enum(['openai', 'anthropic', 'google', 'openai_compatible', 'offline']).describe('Which interface the model speaks; `offline` needs no network'),
  base_url: urlSchema.optional().describe('Address of the server. Required for `openai_compatible`; else the provider\'s own. `OPENAI_BASE_URL` overrides'),
  model: textSchema.optional().describe('Name of the model. Required, except for `offline`'),
  api_key_env: envNameSchema.optional().describe(
    'Variable that holds the key. Default: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GOOGLE_GENERATIVE_AI_API_KEY` by provider; `openai_compatible`: no key',
  ),
  timeout: durationSchema('1ms', '24h').prefault('60s').describe('Limit of one call'),
  max_output_tokens: z.int().min(1).max(10_000_000).optional().describe('Longest reply that is asked for. Default: the provider\'s own limit'),
  price: z
    .strictObject({
      input: z.number().min(0).max(1_000_000).describe('US dollars for a million input tokens'),
      output: z.number().min(0).max(1_000_000).describe('US dollars for a million output tokens'),
    })
    .optional()
    .describe('What the model costs; needed for `cost_usd` of a budget'),
  rules: z.array(offlineRuleConfigSchema).default([]).describe('Rules of the `offline` model, first match wins'),
});

/** `[agents.NAME.memory]` (document 2). */
export const memoryConfigSchema = z.strictObject({
  backend: z
    .enum(['postgres', 'off'], {
      error: (issue) => (issue.input === 'in-memory' || issue.input === 'in_memory'
        ? 'is not set in the file; allowed are "postgres" and "off". For memory that is gone when the process ends, start `holdfast dev --memory in-memory`'
        : undefined),
    })
    .default('postgres')
    .describe('`off`: no earlier message enters a prompt (C1)'),
  window_size: z.int().min(1).max(1000).default(20).describe('Messages that are sent to the model, not what is stored (C3). `MEMORY_WINDOW_SIZE` overrides'),
  history_aware: z.boolean().default(true).describe('Tell the model that earlier conversation is present (C6)'),
});

/** `[agents.NAME.budget]`: what a turn may use (D33). */
export const budgetConfigSchema = z.strictObject({
  model_calls: z.int().min(0).max(1_000_000_000).optional().describe('Model calls, those of children and summaries included. Absent: no limit but `max_steps`'),
  tokens: z.int().min(0).max(1_000_000_000_000).optional().describe('Input and output tokens together. Absent: no limit'),
  cost_usd: z.number().min(0).max(1_000_000_000).optional().describe('US dollars, by the `price` of the models. Absent: no limit'),
  effects: z.int().min(0).max(1_000_000_000).optional().describe('Effects that may be sent. Absent: no limit'),
  wall_time: durationSchema('1s', '365d').optional().describe('From the start of the turn, waits included; then it ends as `expired`. Absent: no limit'),
});

/** `[agents.NAME]`: an agent, or the child of another one. */
export const agentConfigSchema = z.strictObject({
  instructions: textSchema.optional().describe('System text. This or `instructions_file` is required'),
  instructions_file: pathSchema.optional().describe('File that holds the system text, relative to the configuration file'),
  description: textSchema.optional().describe('What it does, as its parent agents see it. Default: from its name'),
  model: agentNameSchema.default('default').describe('Name of a `[models.NAME]`'),
  children: z.array(agentNameSchema).default([]).describe('Agents and other children (`[children.NAME]`) that it may call'),
  effects: z.array(agentNameSchema).default([]).describe('Effects that it may cause'),
  max_steps: z.int().min(1).max(1000).default(20).describe('Model calls of one turn, corrections included'),
  context_turns: z.int().min(0).max(1000).default(6).describe('Earlier turns in the bounded conversation of `input = "conversation"` children'),
  context_roles: z.array(z.enum(['user', 'assistant'])).min(1).default(['user']).describe('Whose text that conversation holds'),
  input: z.enum(['context', 'conversation']).default('context').describe('As a child: the request only, or the bounded conversation too (W2; not for agents that cause effects)'),
  kind: z
    .enum(['model', 'agent'])
    .optional()
    .describe('As a child: one prompted call, or a turn of its own. Default: `model` when it has neither children, effects nor `ask_user`, else `agent`'),
  detached: z
    .strictObject({ max_life: durationSchema('1s', '365d').prefault('1d').describe('Then it ends as `expired`') })
    .optional()
    .describe('As a child: it goes on after the turn that calls it; its end is told in that conversation (D30)'),
  ask_user: z.boolean().default(false).describe('Offer the tool `ask_user`, which waits for new input (D4)'),
  budget: budgetConfigSchema.optional().describe('What a turn of this agent and all its children may use; 0 means none (D33)'),
  memory: memoryConfigSchema.prefault({}).describe('What of the conversation enters a prompt'),
});
