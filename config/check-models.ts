import type { HoldfastConfig, ModelConfig } from '../contracts/config.js';
import type { ConfigProblem } from './error.js';
import { suggestion } from './nearest.js';

/** What a model's keys must fulfil together. */
export function checkModels(config: HoldfastConfig): ConfigProblem[] {
  return Object.entries(config.models).flatMap(([name, model]) => {
    const found = model.provider === 'offline' ? checkOffline(model, Object.keys(config.agents)) : checkOnline(model);
    return found.map(({ key, message }) => ({ where: config.file, key: `models.${name}.${key}`, message }));
  });
}

type Found = { key: string; message: string };

function checkOnline(model: ModelConfig): Found[] {
  const found: Found[] = [];
  if (model.model === undefined) found.push({ key: 'model', message: `is missing; name the model of provider "${model.provider}"` });
  if (model.provider === 'openai_compatible' && model.base_url === undefined) found.push({ key: 'base_url', message: 'is missing; give it or set OPENAI_BASE_URL' });
  if (model.rules.length > 0) found.push({ key: 'rules', message: 'only for provider = "offline"' });
  return found;
}

function checkOffline(model: ModelConfig, agents: string[]): Found[] {
  const found: Found[] = [];
  if (model.base_url !== undefined) found.push({ key: 'base_url', message: 'the offline model reaches no server; leave it out' });
  if (model.api_key_env !== undefined) found.push({ key: 'api_key_env', message: 'the offline model needs no key; leave it out' });
  model.rules.forEach((rule, i) => {
    const key = `rules[${i}]`;
    if (rule.reply === undefined && rule.calls.length === 0) found.push({ key, message: 'give reply, calls or both' });
    if (rule.agent !== undefined && !agents.includes(rule.agent)) found.push({ key: `${key}.agent`, message: `"${rule.agent}" does not exist${suggestion(rule.agent, agents)}` });
    for (const field of ['user', 'result'] as const) found.push(...checkPattern(`${key}.${field}`, rule[field]));
    if (rule.result !== undefined && rule.after === undefined) found.push({ key: `${key}.result`, message: 'is about the last result, so give after too' });
  });
  return found;
}

function checkPattern(key: string, pattern: string | undefined): Found[] {
  try {
    if (pattern !== undefined) new RegExp(pattern, 'u');
    return [];
  } catch (error) {
    return [{ key, message: `this is not a regular expression: ${error instanceof Error ? error.message.slice(0, 200) : ''}` }];
  }
}
