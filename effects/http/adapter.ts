import type { HttpEffect } from '../../contracts/effect.js';
import type { EffectAdapter } from '../types.js';
import { lookupHttp } from './lookup.js';
import { performHttp } from './perform.js';
import { checkPrecondition, previewHttp } from './questions.js';
import type { HttpContext } from './request.js';

/** `secrets` gives the value of an environment variable by name; `fetch` may be replaced, for instance to go through a proxy. */
export interface HttpAdapterOptions {
  secrets: (envName: string) => string | undefined;
  fetch?: typeof fetch;
}

/**
 * Effects that are HTTP calls declared in TOML (D20, I5, I6). docs/effects.md says which answer means what. One call is one
 * request: nothing is retried and no redirect is followed, because only the ledger may decide to send again (D13).
 */
export function createHttpAdapter(options: HttpAdapterOptions): EffectAdapter<HttpEffect> {
  const context: HttpContext = { secrets: options.secrets, fetch: options.fetch ?? fetch };
  return {
    perform: (call, signal) => performHttp(context, call, signal),
    lookup: (call, signal) => lookupHttp(context, call, signal),
    preview: (call, signal) => previewHttp(context, call, signal),
    precondition: (call, signal) => checkPrecondition(context, call, signal),
  };
}
