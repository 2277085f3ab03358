import type { HoldfastConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';
import { suggestion } from './nearest.js';

/** With work memory on, it is clear for every child whether and from what it is summarised (W6). */
export function checkWorkMemory(config: HoldfastConfig): ConfigProblem[] {
  const { enabled, summary_agent: summary, policy } = config.work_memory;
  if (!enabled) return [];
  const problem = (key: string, message: string): ConfigProblem => ({ where: config.file, key: `work_memory.${key}`, message });
  const agents = Object.keys(config.agents);
  const children = [...new Set(Object.values(config.agents).flatMap((agent) => agent.children))];
  const problems = children
    .filter((child) => child !== summary && !Object.hasOwn(policy, child))
    .map((child) => problem('policy', `the child "${child}" has no policy; add ${child} = "none", "request", "response" or "both"`));
  for (const name of Object.keys(policy)) {
    if (name === summary && policy[name] !== 'none') problems.push(problem(`policy.${name}`, 'the summary agent itself may not be summarised; remove it or use "none"'));
    if (name !== summary && !children.includes(name)) problems.push(problem(`policy.${name}`, `"${name}" is not a child of any agent${suggestion(name, children)}`));
  }
  const agent = config.agents[summary];
  if (agent === undefined) problems.push(problem('summary_agent', `the agent "${summary}" does not exist${suggestion(summary, agents)}`));
  else if (agent.kind !== 'model') problems.push(problem('summary_agent', `"${summary}" must be one prompted call (kind = "model"), without children, effects and ask_user`));
  return problems;
}
