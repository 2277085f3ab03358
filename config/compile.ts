import { createHash } from 'node:crypto';
import type { AgentConfig, HoldfastConfig, ModelConfig } from '../contracts/config.js';
import type { AgentDefinition, ChildDefinition, SummaryPolicy } from '../contracts/definition.js';
import type { Json } from '../contracts/json.js';
import type { ModelDefinition } from '../contracts/model.js';
import { canonicalJson } from '../domain/canonical.js';
import { compileOtherChild } from './compile-child.js';
import { compileEffect } from './compile-effect.js';
import { apiKeyEnvOf } from './secrets.js';

/** Agents as they are stored and pinned by turns (D34). `current` maps each agent to the digest that its new turns pin. */
export interface CompiledAgents {
  defaultAgent: string;
  /** The configuration, as messages call it, and the folder that modules are relative to. Neither is part of a definition. */
  file: string;
  dir: string;
  definitions: { digest: string; definition: AgentDefinition }[];
  current: Record<string, string>;
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
  return { defaultAgent: config.app.default_agent, file: config.file, dir: config.dir, definitions, current: Object.fromEntries(digests) };
}

function compileAgent(name: string, agent: AgentConfig, config: HoldfastConfig, digestOf: (name: string) => string): AgentDefinition {
  return {
    name,
    instructions: agent.instructions,
    model: compileModel(name, agent.model, must(config.models[agent.model], agent.model)),
    children: agent.children.map((child) => compileChild(child, config, digestOf)),
    effects: agent.effects.map((effect) => compileEffect(effect, must(config.effects[effect], effect))),
    maxSteps: agent.max_steps,
    askUser: agent.ask_user,
    memory: { backend: agent.memory.backend, windowSize: agent.memory.window_size, historyAware: agent.memory.history_aware },
    contextTurns: agent.context_turns,
    contextRoles: agent.context_roles,
    summary: compileSummary(agent, config.work_memory, digestOf),
  };
}

function compileChild(name: string, config: HoldfastConfig, digestOf: (name: string) => string): ChildDefinition {
  const other = config.children[name];
  if (other !== undefined) return compileOtherChild(name, other);
  const agent = must(config.agents[name], name);
  const description = agent.description ?? `Asks the agent "${name.replaceAll(/[_-]+/g, ' ')}".`;
  return { name, kind: agent.kind, description, input: agent.input, digest: digestOf(name) };
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
  };
}

/** Null when nothing of this agent is ever summarised (W6). */
function compileSummary(agent: AgentConfig, work: HoldfastConfig['work_memory'], digestOf: (name: string) => string): SummaryPolicy | null {
  const policy = Object.fromEntries(agent.children.flatMap((child) => {
    const evidence = child === work.summary_agent ? undefined : work.policy[child];
    return evidence === undefined || evidence === 'none' ? [] : [[child, evidence]];
  }));
  if (!work.enabled || Object.keys(policy).length === 0) return null;
  return { agent: work.summary_agent, digest: digestOf(work.summary_agent), timing: work.timing, policy };
}

function must<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`"${name}" does not exist; pass a configuration that loadConfig has checked`);
  return value;
}
