import { z } from 'zod';
import { agentConfigSchema, modelConfigSchema } from './config-agent.js';
import { childConfigSchema } from './config-child.js';
import { effectConfigSchema } from './config-effect.js';
import { agentNameSchema } from './turn.js';

const appSchema = z.strictObject({
  default_agent: agentNameSchema.optional().describe('Agent that is meant when none is named. Default: the only agent. `AGENT_ID` overrides (I5b)'),
});

const workMemorySchema = z.strictObject({
  enabled: z.boolean().default(false).describe('Summarise the work of children (W6)'),
  summary_agent: agentNameSchema.default('summary').describe('Agent that writes the summaries'),
  timing: z.enum(['before_finalize', 'turn_end']).default('turn_end').describe('Right after each successful child, or in call order at the end (W8)'),
  policy: z
    .record(agentNameSchema, z.enum(['none', 'request', 'response', 'both']))
    .default({})
    .describe('Child → evidence to summarise. When enabled, every child except the summary agent needs one (W6)'),
});

/** `holdfast.toml` as written (I5). Unknown keys are errors; durations are text here and milliseconds after parsing. */
export const configSchema = z.strictObject({
  app: appSchema.prefault({}).describe('The application'),
  models: z.record(agentNameSchema, modelConfigSchema).default({}).describe('How to reach models'),
  agents: z.record(agentNameSchema, agentConfigSchema).default({}).describe('Agents, and the children of agents'),
  children: z.record(agentNameSchema, childConfigSchema).default({}).describe('Children that are no agents of this file: remote agents and functions (D32)'),
  effects: z.record(agentNameSchema, effectConfigSchema).default({}).describe('Actions on external systems'),
  work_memory: workMemorySchema.prefault({}).describe('Summaries of work done by children (document 3)'),
});

export type ConfigInput = z.output<typeof configSchema>;
export type ModelConfig = ConfigInput['models'][string];
export type AgentConfig = Omit<ConfigInput['agents'][string], 'instructions' | 'instructions_file' | 'kind'> & { instructions: string; kind: 'model' | 'agent' };
export type ChildConfig = ConfigInput['children'][string];
type EffectInput = ConfigInput['effects'][string];
/** Effect by effect type, with its schema read. */
export type EffectConfig = EffectInput extends infer E ? (E extends EffectInput ? Omit<E, 'input_schema' | 'input_schema_file'> & { input_schema: NonNullable<EffectInput['input_schema']> } : never) : never;

/**
 * The configuration that the product runs with: checked, environment applied, files read, defaults filled in. `file` is what messages
 * call it, `dir` the absolute folder that paths in it are relative to. Times are milliseconds. Holds no secret.
 */
export interface HoldfastConfig {
  file: string;
  dir: string;
  app: { default_agent: string };
  models: Record<string, ModelConfig>;
  agents: Record<string, AgentConfig>;
  children: Record<string, ChildConfig>;
  effects: Record<string, EffectConfig>;
  work_memory: ConfigInput['work_memory'];
}
