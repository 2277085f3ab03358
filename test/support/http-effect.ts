import type { EffectDefinition, HttpEffect } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import type { EffectCall } from '../../effects/types.js';

/** The booking sample's effect against a server at `url`, with every capability; `change` replaces parts of it. */
export function reserveEffect(url: string, change: Partial<HttpEffect> = {}): HttpEffect {
  return {
    name: 'reserve', type: 'http', description: 'Reserve a table', inputSchema: { type: 'object' }, sequential: false, timeoutMs: 10_000,
    http: { method: 'POST', url: `${url}/reservations`, headersEnv: {}, resultId: 'id', rejects: [400, 422] },
    idempotency: { header: 'Idempotency-Key', retentionMs: 86_400_000, onMismatch: 'conflict' },
    lookup: { url: `${url}/reservations?key={key}`, absence: 'authoritative', settleAfterMs: 2000, everyMs: 30_000 },
    correlation: null, unknown: { retry: 'never' }, approval: null, maxConcurrent: null, compensates: null, compensatedBy: null,
    ...change,
  };
}

export function effectCall<E extends EffectDefinition>(effect: E, key: string, args: JsonObject = { date: '2026-12-24', people: 2 }): EffectCall<E> {
  return { effect, key, physicalCallId: `p-${key}`, args };
}
