import { CallError } from '../domain/failure.js';
import { fromReply, toPrompt } from './convert.js';
import { toCallError } from './errors.js';
import { guardedFetch } from './guarded-fetch.js';
import { apiKeyOf, languageModelOf } from './language-model.js';
import { redact } from './redact.js';
import type { ModelProvider } from './types.js';

/** What providers need from their composition root. `secrets` looks up an environment variable by name; nothing is kept of it. */
export interface ProviderDeps {
  secrets: (envName: string) => string | undefined;
  fetch?: typeof globalThis.fetch;
}

/** Longest delay that Node's timers take, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Models behind HTTP: `openai`, `anthropic`, `google`, `openai_compatible`. One attempt per call, ended after the model's `timeoutMs`.
 * Throws `CallError` (D35), or the reason of `signal` when the caller gave up.
 */
export function createAiSdkProvider(deps: ProviderDeps): ModelProvider {
  const fetch = guardedFetch(deps.fetch ?? globalThis.fetch);
  return {
    async generate(model, request, signal) {
      signal.throwIfAborted();
      const apiKey = apiKeyOf(model, deps.secrets);
      const deadline = AbortSignal.timeout(Math.min(model.timeoutMs, MAX_TIMER_MS));
      try {
        const limit = model.maxOutputTokens === null ? {} : { maxOutputTokens: model.maxOutputTokens };
        const options = { ...toPrompt(request), ...limit, abortSignal: AbortSignal.any([signal, deadline]) };
        return fromReply(await languageModelOf(model, apiKey, fetch).doGenerate(options));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (deadline.aborted) throw new CallError('retryable', `model "${model.alias}" did not answer within ${model.timeoutMs} ms`);
        throw toCallError(error, (message) => redact(message, request, apiKey), Date.now());
      }
    },
  };
}
