import type { FunctionEffect, Idempotency, Lookup } from '../contracts/effect.js';
import type { JsonObject } from '../contracts/json.js';
import { createFunctionAdapter } from '../effects/function/adapter.js';
import type { DefinedEffect } from '../effects/function/define.js';
import type { EffectAdapter, EffectCall } from '../effects/types.js';

/** What the configuration of a function effect declares; times in milliseconds. */
export interface DeclaredFunction {
  idempotency?: Partial<Idempotency>;
  lookup?: Partial<Lookup>;
  timeoutMs?: number;
}

/** A function effect as the worker would run it: for `effectChecks`, and for tests of single answers. */
export function functionTarget<Args extends object>(functions: DefinedEffect<Args>, declared: DeclaredFunction): {
  adapter: EffectAdapter<FunctionEffect>;
  call(key: string, args: Args): EffectCall<FunctionEffect>;
} {
  const effect: FunctionEffect = {
    name: 'effect', type: 'function', description: 'Under test', inputSchema: { type: 'object' }, sequential: false, timeoutMs: declared.timeoutMs ?? 10_000,
    function: { module: 'under-test', export: 'default' },
    idempotency: declared.idempotency === undefined ? null : { retentionMs: 86_400_000, onMismatch: 'conflict', ...declared.idempotency },
    lookup: declared.lookup === undefined ? null : { absence: 'eventual', settleAfterMs: 0, everyMs: 1000, ...declared.lookup },
    unknown: { retry: 'never' }, approval: null, maxConcurrent: null, compensates: null, compensatedBy: null,
  };
  return {
    adapter: createFunctionAdapter(() => functions as unknown as DefinedEffect),
    call: (key, args) => ({ effect, key, physicalCallId: `call-of-${key}`, args: args as JsonObject }),
  };
}
