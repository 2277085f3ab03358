import type { EffectDefinition } from '../contracts/effect.js';
import type { Json, JsonObject } from '../contracts/json.js';
import type { InLedger } from '../contracts/sql.js';

/** What an adapter is given: the frozen arguments and Holdfast's identity for the intent (D11). */
export interface EffectCall<E extends EffectDefinition = EffectDefinition> {
  effect: E;
  key: string;
  physicalCallId: string;
  args: JsonObject;
}

/**
 * How one physical call ended. `rejected`: the target's own word that nothing happened (D10). `not_sent`: proven that nothing reached it or that
 * it was undone, so it may be tried again. `conflict`: the target knows the key with other arguments (D14). `uncertain`: everything else; `late`: the work
 * goes on after its limit, and this is what it comes to (D17, D27). Until then the call counts as in flight.
 */
export type PerformResult =
  | { kind: 'succeeded'; externalId: string | null; result: Json }
  | { kind: 'rejected'; result: Json; message: string }
  | { kind: 'conflict'; message: string }
  | { kind: 'not_sent'; message: string; retryAfterMs: number | null }
  | { kind: 'uncertain'; message: string; retryAfterMs: number | null; late?: Promise<PerformResult> };

/** `absent` only when the target answered and has nothing under the key; anything doubtful is `inconclusive` (D13). */
export type LookupResult =
  | { kind: 'found'; externalId: string | null; result: Json; note: string }
  | { kind: 'absent'; note: string }
  | { kind: 'inconclusive'; note: string };

export type PreviewResult = { kind: 'preview'; before: JsonObject; after: JsonObject } | { kind: 'refused'; message: string };
export type PreconditionResult = { holds: true } | { holds: false; message: string };

/**
 * The code that performs, looks up and describes effects of one external system (D19). `perform`, `lookup` never throw:
 * what they could not find out is part of their answer. A request that cannot be built from our own configuration (a secret is not set)
 * is `not_sent`, or `inconclusive` for a look-up, with a message that names the setting. `signal` ends the call at its deadline.
 * `ledger`, which the worker gives, is for targets in the ledger's own database: what runs in it and succeeds is recorded by the same commit (D18).
 */
export interface EffectAdapter<E extends EffectDefinition = EffectDefinition> {
  perform(call: EffectCall<E>, signal: AbortSignal, ledger?: InLedger): Promise<PerformResult>;
  lookup(call: EffectCall<E>, signal: AbortSignal): Promise<LookupResult>;
  /** Before and after, for the person who approves (D21). Throws `CallError` when the target cannot be reached. */
  preview(call: EffectCall<E>, signal: AbortSignal): Promise<PreviewResult>;
  /** Checked again at execution (D25). Throws `CallError` when the target cannot be reached. */
  precondition(call: EffectCall<E>, signal: AbortSignal): Promise<PreconditionResult>;
}
