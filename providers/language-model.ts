import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { ModelDefinition } from '../contracts/model.js';
import { CallError } from '../domain/failure.js';

/** Base URLs are always passed, so that the SDK never reads the environment itself. */
const HOSTED = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/**
 * The key of a model; null when an `openai_compatible` server needs none. Throws a terminal `CallError` that names the variable.
 * `secrets` looks up an environment variable.
 */
export function apiKeyOf(model: ModelDefinition, secrets: (envName: string) => string | undefined): string | null {
  const variable = model.apiKeyEnv;
  if (variable === null && model.provider in HOSTED) throw new CallError('terminal', `model "${model.alias}" needs api_key_env, the name of the variable with its key`);
  if (variable === null) return null;
  const key = secrets(variable);
  if (key === undefined || key === '') throw new CallError('terminal', `model "${model.alias}" needs its key in the environment variable ${variable}, which is not set`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CallError('terminal', `the environment variable ${variable} holds characters that no key has; remove spaces and line breaks`);
  return key;
}

/** The AI SDK's model for a definition. Throws a terminal `CallError` for a definition that names no server. */
export function languageModelOf(model: ModelDefinition, apiKey: string | null, fetch: typeof globalThis.fetch): LanguageModelV3 {
  switch (model.provider) {
    case 'openai': return createOpenAI({ ...hosted(model, 'openai', apiKey), fetch }).chat(model.model);
    case 'anthropic': return createAnthropic({ ...hosted(model, 'anthropic', apiKey), fetch })(model.model);
    case 'google': return createGoogleGenerativeAI({ ...hosted(model, 'google', apiKey), fetch })(model.model);
    case 'openai_compatible': {
      if (model.baseUrl === null) throw new CallError('terminal', `model "${model.alias}" needs base_url, such as "http://127.0.0.1:8000/v1"`);
      return createOpenAICompatible({ name: 'openai-compatible', baseURL: model.baseUrl, ...(apiKey === null ? {} : { apiKey }), fetch })(model.model);
    }
    case 'offline': throw new CallError('terminal', `model "${model.alias}" is offline and has no server`);
  }
}

function hosted(model: ModelDefinition, provider: keyof typeof HOSTED, apiKey: string | null): { baseURL: string; apiKey: string } {
  return { baseURL: model.baseUrl ?? HOSTED[provider], apiKey: apiKey ?? '' };
}
