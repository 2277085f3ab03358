import { configSchema } from '../contracts/config.js';
import type { HoldfastConfig } from '../contracts/config.js';
import { checkBudgets } from './check-budgets.js';
import { checkChildren } from './check-children.js';
import { checkEffects } from './check-effects.js';
import { checkModels } from './check-models.js';
import { checkWorkMemory } from './check-work-memory.js';
import type { ConfigProblem } from './error.js';
import { ConfigError, must, throwProblems } from './error.js';
import { check } from './issues.js';
import { suggestion } from './nearest.js';
import { applyAgentId, applyValues, blameAgentId, readOverrides } from './overrides.js';
import { readDocument } from './read.js';
import type { RawDocument } from './read.js';
import { checkReferences } from './references.js';
import { resolveFiles } from './resolve.js';
import type { Env } from './substitute.js';
import { substitute } from './substitute.js';

/** Where the configuration is looked for when nothing else is named (I5). */
export const DEFAULT_FILE = 'holdfast.toml';

/**
 * Reads, checks and completes the configuration (I5, I5b). `file` is relative to `cwd`; paths in the file are relative to the file.
 * Throws `ConfigError` with every problem found. Whether secrets are set is asked separately: `requireSecrets`.
 */
export function loadConfig({ file = DEFAULT_FILE, cwd, env }: { file?: string | undefined; cwd: string; env: Env }): HoldfastConfig {
  const overrides = readOverrides(env);
  const config = applyValues(complete(readDocument(file, cwd), env, overrides.AGENT_ID), overrides);
  throwProblems(checkAll(config));
  const renamed = applyAgentId(config, overrides.AGENT_ID);
  throwProblems(blameAgentId(checkAll(renamed)));
  return renamed;
}

function complete(document: RawDocument, env: Env, agentId: string | undefined): HoldfastConfig {
  const { value, problems } = substitute(document.raw, env, document.file);
  throwProblems(problems);
  const parsed = must(check(configSchema, value, document.file, document.raw));
  const { agents, effects } = must(resolveFiles(parsed, document));
  const names = Object.keys(agents);
  const selected = agentId !== undefined && names.includes(agentId) ? agentId : undefined;
  return {
    file: document.file, dir: document.dir, app: { default_agent: defaultAgent(document.file, parsed.app.default_agent, names, selected) },
    models: parsed.models, agents, children: parsed.children, effects, work_memory: parsed.work_memory,
  };
}

/** The named agent, or the only one. `selected` is the choice of `AGENT_ID`, which makes naming one unnecessary. */
function defaultAgent(file: string, named: string | undefined, names: string[], selected: string | undefined): string {
  const wrong = (message: string) => new ConfigError([{ where: file, key: 'app.default_agent', message }]);
  if (names.length === 0) throw new ConfigError([{ where: file, key: 'agents', message: 'define at least one [agents.NAME]' }]);
  if (named !== undefined && !names.includes(named)) throw wrong(`the agent "${named}" does not exist${suggestion(named, names)}`);
  const chosen = named ?? selected ?? (names.length === 1 ? names[0] : undefined);
  if (chosen === undefined) throw wrong(`is missing; there are several agents, so name one of them: ${names.join(', ')}`);
  return chosen;
}

function checkAll(config: HoldfastConfig): ConfigProblem[] {
  return [...checkReferences(config), ...checkChildren(config), ...checkModels(config), ...checkEffects(config), ...checkBudgets(config), ...checkWorkMemory(config)];
}
