import type { HoldfastConfig } from '../contracts/config.js';
import { ASK_USER } from '../domain/judge-reply.js';
import type { ConfigProblem } from './error.js';
import { suggestion } from './nearest.js';

/** Names that mean nothing, names that mean two things, and agents that would call themselves. */
export function checkReferences(config: HoldfastConfig): ConfigProblem[] {
  const agents = Object.keys(config.agents);
  const known = { children: [...agents, ...Object.keys(config.children)], effects: Object.keys(config.effects), model: Object.keys(config.models) };
  const problems: ConfigProblem[] = agents
    .filter((name) => Object.hasOwn(config.children, name))
    .map((name) => problem(config, `children.${name}`, 'there is an agent of this name too; a child needs a name of its own'));
  for (const [name, agent] of Object.entries(config.agents)) {
    const key = `agents.${name}`;
    for (const kind of ['children', 'effects'] as const) {
      problems.push(...agent[kind].flatMap((target) => missing(config, `${key}.${kind}`, target, known[kind])));
      problems.push(...twice(agent[kind]).map((target) => problem(config, `${key}.${kind}`, `"${target}" stands there twice`)));
    }
    problems.push(...missing(config, `${key}.model`, agent.model, known.model), ...checkToolNames(config, name));
    if (agent.kind === 'model' && (agent.children.length > 0 || agent.effects.length > 0 || agent.ask_user || agent.detached !== undefined)) {
      problems.push(problem(config, `${key}.kind`, '"model" is one prompted call and has no tools; use "agent", or leave out children, effects, ask_user and detached'));
    }
  }
  return problems.length > 0 ? problems : [...checkCycles(config), ...checkReadOnly(config)];
}

function checkToolNames(config: HoldfastConfig, name: string): ConfigProblem[] {
  const { children = [], effects = [] } = config.agents[name] ?? {};
  const both = children.filter((child) => effects.includes(child)).map((child) => `"${child}" is a child and an effect of this agent; tools need different names`);
  const builtIn = [...children, ...effects].includes(ASK_USER) ? [`"${ASK_USER}" is the name of a built-in tool; rename the child or effect`] : [];
  return [...both, ...builtIn].map((message) => problem(config, `agents.${name}`, message));
}

/** Depth first; a cycle is reported once, at the agent where the file first enters it. */
function checkCycles(config: HoldfastConfig): ConfigProblem[] {
  const done = new Set<string>();
  const visit = (name: string, path: string[]): string[] | null => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return null;
    done.add(name);
    for (const child of config.agents[name]?.children ?? []) {
      const cycle = visit(child, [...path, name]);
      if (cycle !== null) return cycle;
    }
    return null;
  };
  for (const name of Object.keys(config.agents)) {
    const cycle = visit(name, []);
    if (cycle !== null) return [problem(config, `agents.${cycle[0] ?? name}.children`, `children must not lead back to their parent: ${cycle.join(' → ')}`)];
  }
  return [];
}

/** A child that sees the conversation must be read-only (W2). */
function checkReadOnly(config: HoldfastConfig): ConfigProblem[] {
  const causes = (name: string): boolean => {
    const agent = config.agents[name];
    return agent !== undefined && (agent.effects.length > 0 || agent.children.some(causes));
  };
  const children = new Set(Object.values(config.agents).flatMap((agent) => agent.children));
  return [...children]
    .filter((name) => config.agents[name]?.input === 'conversation' && causes(name))
    .map((name) => problem(config, `agents.${name}.input`, '"conversation" is for children that cause no effects, neither themselves nor through their own children; use "context"'));
}

function missing(config: HoldfastConfig, key: string, target: string, known: string[]): ConfigProblem[] {
  return known.includes(target) ? [] : [problem(config, key, `"${target}" does not exist${suggestion(target, known)}`)];
}

function twice(names: string[]): string[] {
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
}

function problem(config: HoldfastConfig, key: string, message: string): ConfigProblem {
  return { where: config.file, key, message };
}
