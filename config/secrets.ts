import type { EffectConfig, HoldfastConfig, ModelConfig } from '../contracts/config.js';
import { compensationOf } from './compensation.js';
import type { ConfigProblem } from './error.js';
import { throwProblems } from './error.js';
import type { Env } from './substitute.js';

/** A secret that the configuration needs: where it is asked for and the variable that must hold it. */
export interface NeededSecret {
  key: string;
  variable: string;
}

const DEFAULT_KEY: Record<ModelConfig['provider'], string | null> = {
  openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY', google: 'GOOGLE_GENERATIVE_AI_API_KEY', openai_compatible: null, offline: null,
};

/** Variable that holds the key of a model; null when the model needs none. */
export function apiKeyEnvOf(model: ModelConfig): string | null {
  return model.api_key_env ?? DEFAULT_KEY[model.provider];
}

/** Models, children and effects that an agent uses, and the effects that undo those (D29); others may lack their secrets. */
export function neededSecrets(config: HoldfastConfig): NeededSecret[] {
  const agents = Object.values(config.agents);
  const usedModels = new Set(agents.map((agent) => agent.model));
  const usedEffects = new Set(agents.flatMap((agent) => agent.effects).flatMap((name) => [name, compensationOf(config, name)]));
  const models = Object.entries(config.models).flatMap(([name, model]): NeededSecret[] => {
    const variable = apiKeyEnvOf(model);
    return variable === null || !usedModels.has(name) ? [] : [{ key: `models.${name}.api_key_env`, variable }];
  });
  const effects = Object.entries(config.effects)
    .filter(([name]) => usedEffects.has(name))
    .flatMap(([name, effect]) => variablesOf(effect).map(([key, variable]) => ({ key: `effects.${name}.${key}`, variable })));
  const usedChildren = new Set(agents.flatMap((agent) => agent.children));
  const children = Object.entries(config.children).flatMap(([name, child]): NeededSecret[] =>
    (child.type === 'a2a' && usedChildren.has(name) ? Object.entries(child.headers_env).map(([header, variable]) => ({ key: `children.${name}.headers_env.${header}`, variable })) : []));
  return [...models, ...children, ...effects];
}

function variablesOf(effect: EffectConfig): [string, string][] {
  const headers = effect.type === 'http' || effect.type === 'mcp' ? Object.entries(effect.headers_env).map(([header, variable]): [string, string] => [`headers_env.${header}`, variable]) : [];
  const passed = effect.type === 'mcp' ? effect.env.map((variable): [string, string] => ['env', variable]) : [];
  const named: [string, string | undefined][] = effect.type === 'postgres' ? [['dsn_env', effect.dsn_env]]
    : effect.type === 'smtp' ? [['user_env', effect.user_env], ['password_env', effect.password_env]] : [];
  return [...headers, ...passed, ...named.flatMap(([key, variable]): [string, string][] => (variable === undefined ? [] : [[key, variable]]))];
}

/** Called when a worker starts. Throws `ConfigError` that names file, key and variable of every secret that is not set. */
export function requireSecrets(config: HoldfastConfig, env: Env): void {
  throwProblems(
    neededSecrets(config)
      .filter(({ variable }) => !env[variable])
      .map(({ key, variable }): ConfigProblem => ({ where: config.file, key, message: `the environment variable ${variable} is not set; set it before the worker starts` })),
  );
}
