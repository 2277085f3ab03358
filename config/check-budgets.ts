import type { HoldfastConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';
import { summarisedChildren } from './summarised.js';

/** A budget in dollars counts nothing while a model that its agent, a child of it, or the writer of their summaries uses has no price (D33). */
export function checkBudgets(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.agents).flatMap(([name, agent]) => {
    if (agent.budget?.cost_usd === undefined) return [];
    const unpriced = modelsOf(config, name).filter((model) => config.models[model]?.price === undefined && config.models[model]?.provider !== 'offline');
    return unpriced.map((model) => ({
      where: config.file, key: `agents.${name}.budget.cost_usd`, message: `cannot be counted: give models.${model} a price, such as { input = 0.5, output = 1.5 } (US dollars for a million tokens)`,
    }));
  });
}

/** Models of an agent and of all agents that its budget reaches: not those of detached work, which has its own (D30). `seen` ends the search where children lead back, which is a mistake of its own. */
function modelsOf(config: HoldfastConfig, name: string, seen = new Set<string>()): string[] {
  const agent = config.agents[name];
  if (agent === undefined || seen.has(name)) return [];
  seen.add(name);
  const summary = summarisedChildren(agent.children, config.work_memory).length > 0 ? [config.work_memory.summary_agent] : [];
  const below = [...agent.children.filter((child) => config.agents[child]?.detached === undefined), ...summary];
  return [...new Set([agent.model, ...below.flatMap((child) => modelsOf(config, child, seen))])];
}
