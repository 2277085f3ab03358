import type { Capabilities, EffectDefinition } from '../contracts/effect.js';
import { lookupHttp } from './http-lookup.js';
import { performHttp } from './http-perform.js';
import { checkPrecondition, previewHttp } from './http-questions.js';
import type { HttpContext } from './http-request.js';
import type { EffectAdapter } from './types.js';

/** `secrets` gives the value of an environment variable by name; `fetch` may be replaced, for instance to go through a proxy. */
export interface HttpAdapterOptions {
  secrets: (envName: string) => string | undefined;
  fetch?: typeof fetch;
}

/**
 * Effects that are HTTP calls declared in TOML (D20, I5, I6). docs/effects.md says which answer means what. One call is one
 * request: nothing is retried and no redirect is followed, because only the ledger may decide to send again (D13).
 */
export function createHttpAdapter(options: HttpAdapterOptions): EffectAdapter {
  const context: HttpContext = { secrets: options.secrets, fetch: options.fetch ?? fetch };
  return {
    capabilities: httpCapabilities,
    perform: (call, signal) => performHttp(context, call, signal),
    lookup: (call, signal) => lookupHttp(context, call, signal),
    preview: (call, signal) => previewHttp(context, call, signal),
    precondition: (call, signal) => checkPrecondition(context, call, signal),
  };
}

/** What the definition declares of the system behind it (D19); needs no secret and makes no call. */
export function httpCapabilities(effect: EffectDefinition): Capabilities {
  const { idempotency, lookup } = effect;
  return {
    idempotency: idempotency && { how: `header ${idempotency.header}`, retentionMs: idempotency.retentionMs, onMismatch: idempotency.onMismatch },
    lookup: lookup && { by: lookup.url, settleAfterMs: lookup.settleAfterMs, authoritativeAbsence: lookup.absence === 'authoritative' },
    cancel: false,
    fencing: false,
    compensation: null,
  };
}
