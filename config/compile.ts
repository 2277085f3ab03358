import { createHash } from 'node:crypto';
import type { BudgetPolicy } from '../contracts/budget.js';
import type { AgentConfig, HoldfastConfig, ModelConfig } from '../contracts/config.js';
import type { AgentDefinition, ChildDefinition, SummaryPolicy } from '../contracts/definition.js';
import type { EffectDefinition } from '../contracts/effect.js';
import type { Json } from '../contracts/json.js';
import type { ModelDefinition } from '../contracts/model.js';
import { canonicalJson } from '../domain/canonical.js';
import { compileOtherChild } from './compile-child.js';
import { compileEffect } from './compile-effect.js';
import { compensationOf } from './compensation.js';
import { apiKeyEnvOf } from './secrets.js';
import { summarisedChildren } from './summarised.js';

/** Agents as they are stored and pinned by turns (D34). `current` maps each agent to the digest that its new turns pin. */
export interface CompiledAgents {
  defaultAgent: string;
  definitions: { digest: string; definition: AgentDefinition }[];
  current: Record<string, string>;
  /** The configuration file as messages call it, and the folder that paths in it are relative to. Not part of any definition. */
  source: { file: string; dir: string };
}

/**
 * Turns a checked configuration into definitions. Children come before their parents, so that a parent pins what its children mean;
 * the same configuration always gives the same digests. Never holds a secret, only names of variables.
 */
export function compileAgents(config: HoldfastConfig): CompiledAgents {
  const digests = new Map<string, string>();
  const definitions: CompiledAgents['definitions'] = [];
  const digestOf = (name: string): string => {
    const known = digests.get(name);
    if (known !== undefined) return known;
    const definition = compileAgent(name, must(config.agents[name], name), config, digestOf);
    const digest = createHash('sha256').update(canonicalJson(definition as unknown as Json)).digest('hex');
    digests.set(name, digest);
    definitions.push({ digest, definition });
    return digest;
  };
  Object.keys(config.agents).forEach(digestOf);
  return { defaultAgent: config.app.default_agent, definitions, current: Object.fromEntries(digests), source: { file: config.file, dir: config.dir } };
}

function compileAgent(name: string, agent: AgentConfig, config: HoldfastConfig, digestOf: (name: string) => string): AgentDefinition {
  return {
    name,
    instructions: agent.instructions,
    model: compileModel(name, agent.model, must(config.models[agent.model], agent.model)),
    children: agent.children.map((child) => compileChild(child, config, digestOf)),
    effects: agent.effects.map((effect) => compile(config, effect)),
    compensations: agent.effects.flatMap((effect) => compensationOf(config, effect) ?? []).filter((undo) => !agent.effects.includes(undo)).map((undo) => compile(config, undo)),
    maxSteps: agent.max_steps,
    askUser: agent.ask_user,
    memory: { backend: agent.memory.backend, windowSize: agent.memory.window_size, historyAware: agent.memory.history_aware },
    contextTurns: agent.context_turns,
    contextRoles: agent.context_roles,
    summary: compileSummary(agent, config.work_memory, digestOf),
    budget: compileBudget(agent.budget),
  };
}

function compile(config: HoldfastConfig, name: string): EffectDefinition {
  return compileEffect(name, must(config.effects[name], name), compensationOf(config, name));
}

function compileChild(name: string, config: HoldfastConfig, digestOf: (name: string) => string): ChildDefinition {
  const other = config.children[name];
  if (other !== undefined) return compileOtherChild(name, other);
  const agent = must(config.agents[name], name);
  const description = agent.description ?? `Asks the agent "${name.replaceAll(/[_-]+/g, ' ')}".`;
  const detached = agent.detached === undefined ? null : { maxLifeMs: agent.detached.max_life };
  return { name, kind: agent.kind, description, input: agent.input, digest: digestOf(name), detached };
}

/** Rules of other agents are left out: they do not change what this agent means. */
function compileModel(agent: string, alias: string, model: ModelConfig): ModelDefinition {
  const rules = model.rules
    .filter((rule) => rule.agent === undefined || rule.agent === agent)
    .map((rule) => ({
      agent: rule.agent ?? null, user: rule.user ?? null, after: rule.after ?? null, result: rule.result ?? null, reply: rule.reply ?? null, calls: rule.calls,
    }));
  return {
    alias, provider: model.provider, model: model.model ?? 'offline', baseUrl: model.base_url ?? null, apiKeyEnv: apiKeyEnvOf(model), timeoutMs: model.timeout, rules,
    maxOutputTokens: model.max_output_tokens ?? null, price: model.price ?? null,
  };
}

function compileBudget(budget: AgentConfig['budget']): BudgetPolicy | null {
  if (budget === undefined || Object.keys(budget).length === 0) return null;
  return {
    modelCalls: budget.model_calls ?? null, tokens: budget.tokens ?? null, costMicros: budget.cost_usd === undefined ? null : Math.round(budget.cost_usd * 1_000_000),
    effects: budget.effects ?? null, wallTimeMs: budget.wall_time ?? null,
  };
}

/** Null when nothing of this agent is ever summarised (W6). */
function compileSummary(agent: AgentConfig, work: HoldfastConfig['work_memory'], digestOf: (name: string) => string): SummaryPolicy | null {
  const summarised = summarisedChildren(agent.children, work);
  if (summarised.length === 0) return null;
  return { agent: work.summary_agent, digest: digestOf(work.summary_agent), timing: work.timing, policy: Object.fromEntries(summarised) };
}

function must<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`"${name}" does not exist; pass a configuration that loadConfig has checked`);
  return value;
}
