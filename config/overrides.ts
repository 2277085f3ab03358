import { z } from 'zod';
import { agentNameSchema } from '../contracts/turn.js';
import { memoryConfigSchema } from '../contracts/config-agent.js';
import { urlSchema } from '../contracts/config-values.js';
import type { HoldfastConfig, ModelConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';
import { must } from './error.js';
import { check } from './issues.js';
import type { Env } from './substitute.js';

/** Variables that stand above the file (I5). */
export const overridesSchema = z.object({
  AGENT_ID: agentNameSchema.optional().describe('Selects the default agent; a name that no agent has becomes the name of the default agent (I5b)'),
  OPENAI_BASE_URL: urlSchema.optional().describe('`base_url` of every `openai` and `openai_compatible` model'),
  MEMORY_WINDOW_SIZE: z.coerce.number().pipe(memoryConfigSchema.shape.window_size.unwrap()).optional().meta({ kind: 'whole number' }).describe('`memory.window_size` of every agent (C3)'),
});

export type Overrides = z.output<typeof overridesSchema>;

/** Reads them; an empty variable counts as unset. Throws `ConfigError` naming the variable. */
export function readOverrides(env: Env): Overrides {
  const given = Object.fromEntries(Object.keys(overridesSchema.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  return must(check(overridesSchema, given, 'environment'));
}

/** Everything but the agent's name, which is applied after the checks so that messages name what stands in the file. */
export function applyValues(config: HoldfastConfig, { OPENAI_BASE_URL: baseUrl, MEMORY_WINDOW_SIZE: windowSize }: Overrides): HoldfastConfig {
  return {
    ...config,
    models: mapValues(config.models, (model) =>
      (baseUrl !== undefined && (model.provider === 'openai' || model.provider === 'openai_compatible') ? { ...model, base_url: baseUrl } : model)),
    agents: mapValues(config.agents, (agent) => (windowSize === undefined ? agent : { ...agent, memory: { ...agent.memory, window_size: windowSize } })),
  };
}

/** `holdfast dev --memory off` (C1): no earlier message enters any prompt; turn, ledger and approvals stay as durable as ever. */
export function withoutMemory(config: HoldfastConfig): HoldfastConfig {
  return { ...config, agents: mapValues(config.agents, (agent) => ({ ...agent, memory: { ...agent.memory, backend: 'off' as const } })) };
}

/** `AGENT_ID` (I5b): an existing agent becomes the default; else the default agent is renamed wherever it is mentioned. */
export function applyAgentId(config: HoldfastConfig, agentId: string | undefined): HoldfastConfig {
  const old = config.app.default_agent;
  if (agentId === undefined || agentId === old) return config;
  const app = { default_agent: agentId };
  if (Object.hasOwn(config.agents, agentId)) return { ...config, app };
  const rename = (name: string) => (name === old ? agentId : name);
  const renameKeys = <T>(table: Record<string, T>) => Object.fromEntries(Object.entries(table).map(([name, item]) => [rename(name), item]));
  return {
    ...config,
    app,
    agents: mapValues(renameKeys(config.agents), (agent) => ({ ...agent, children: agent.children.map(rename) })),
    models: mapValues(config.models, (model) => ({ ...model, rules: model.rules.map((rule) => renameInRule(rule, rename, Object.keys(config.effects))) })),
    work_memory: { ...config.work_memory, summary_agent: rename(config.work_memory.summary_agent), policy: renameKeys(config.work_memory.policy) },
  };
}

/** A tool of a rule is a child or an effect; effects keep their names. */
function renameInRule(rule: ModelConfig['rules'][number], rename: (name: string) => string, effects: string[]): ModelConfig['rules'][number] {
  const renameTool = (name: string) => (effects.includes(name) ? name : rename(name));
  return {
    ...rule,
    agent: rule.agent === undefined ? undefined : rename(rule.agent),
    after: rule.after === undefined ? undefined : renameTool(rule.after),
    calls: rule.calls.map((call) => ({ ...call, tool: renameTool(call.tool) })),
  };
}

/** Problems that only the new name brings are blamed on the variable. */
export function blameAgentId(problems: ConfigProblem[]): ConfigProblem[] {
  return problems.map(({ message }) => ({ where: 'environment', key: 'AGENT_ID', message }));
}

function mapValues<T>(table: Record<string, T>, change: (item: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(table).map(([name, item]) => [name, change(item)]));
}
