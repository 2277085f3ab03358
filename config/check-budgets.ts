import type { HoldfastConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';

/** A budget in dollars counts nothing while a model that its agent, or a child of it, uses has no price (D33). */
export function checkBudgets(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.agents).flatMap(([name, agent]) => {
    if (agent.budget?.cost_usd === undefined) return [];
    const unpriced = modelsOf(config, name).filter((model) => config.models[model]?.price === undefined && config.models[model]?.provider !== 'offline');
    return unpriced.map((model) => ({
      where: config.file, key: `agents.${name}.budget.cost_usd`, message: `cannot be counted: give models.${model} a price, such as { input = 0.5, output = 1.5 } (US dollars for a million tokens)`,
    }));
  });
}

/** Models of an agent and of all agents below it. `seen` ends the search where children lead back, which is a mistake of its own. */
function modelsOf(config: HoldfastConfig, name: string, seen = new Set<string>()): string[] {
  const agent = config.agents[name];
  if (agent === undefined || seen.has(name)) return [];
  seen.add(name);
  return [...new Set([agent.model, ...agent.children.flatMap((child) => modelsOf(config, child, seen))])];
}
