import type { Json, JsonObject } from '../../contracts/json.js';
import type { LookupResult, PerformResult } from '../types.js';

/**
 * What a function is asked with. `key` is Holdfast's identity of the intent: the same at every resend, so hand it to the system as its
 * idempotency key or reference (D11). `signal` ends the call at its limit; what comes after it is ignored.
 */
export interface EffectQuestion<Args extends object = JsonObject> {
  key: string;
  /** The recorded arguments, valid under the effect's `input_schema`; a copy. */
  args: Args;
  signal: AbortSignal;
}

/** One physical call. `physicalCallId` is new at every call; good for logs, never for idempotency. */
export interface EffectRequest<Args extends object = JsonObject> extends EffectQuestion<Args> {
  physicalCallId: string;
}

export type PreviewAnswer = { before: JsonObject; after: JsonObject };

/**
 * An effect as functions of the application (D20). Which of them exist must agree with the configuration. Answers are made with the
 * functions below. A throw leaves the outcome open (`uncertain`, `inconclusive`), unless it is `NotSent` or `Rejected`.
 */
export interface EffectFunctions<Args extends object = JsonObject> {
  /** Causes the effect, once. Never retries by itself: only the ledger may decide to send again (D13). */
  perform(request: EffectRequest<Args>): Promise<PerformResult> | PerformResult;
  /** Asks the system what happened under the key (D13). */
  lookup?(question: EffectQuestion<Args>): Promise<LookupResult> | LookupResult;
  /** Before and after, for the person who approves (D21). Throw `Rejected` to refuse the proposal. */
  preview?(question: EffectQuestion<Args>): Promise<PreviewAnswer> | PreviewAnswer;
  /** The state now, compared with `expect` of the configuration; null: the conditions no longer hold (D25). */
  precondition?(question: EffectQuestion<Args>): Promise<JsonObject | null> | JsonObject | null;
}

/** What `defineEffect` returns; `holdfast` tells it from any other object, also across two copies of this package. */
export type DefinedEffect<Args extends object = JsonObject> = Readonly<EffectFunctions<Args>> & { readonly holdfast: 'effect' };

/**
 * Defines an effect in TypeScript (D20, I14). Safe inside workflow code. `Args` is the type of the arguments, as `input_schema` describes
 * them. Throws TypeError when a part is not a function.
 */
export function defineEffect<Args extends object = JsonObject>(functions: EffectFunctions<Args>): DefinedEffect<Args> {
  if (typeof functions.perform !== 'function') throw new TypeError('defineEffect: perform must be a function');
  for (const part of ['lookup', 'preview', 'precondition'] as const) {
    if (functions[part] !== undefined && typeof functions[part] !== 'function') throw new TypeError(`defineEffect: ${part} must be a function or left out`);
  }
  return Object.freeze({ ...functions, holdfast: 'effect' as const });
}

/** It happened. `externalId` is the system's own id; `result` is what the model is told. */
export function succeeded(done: { externalId?: string | null; result?: Json } = {}): PerformResult {
  return { kind: 'succeeded', externalId: done.externalId ?? null, result: done.result ?? null };
}

/** The system refused, and nothing happened (D10). */
export function rejected(message: string, result: Json = null): PerformResult {
  return { kind: 'rejected', message, result };
}

/** The system knows the key with other arguments (D14). */
export function conflict(message: string): PerformResult {
  return { kind: 'conflict', message };
}

/** Proven that nothing reached the system; it is tried again, after `retryAfterMs` milliseconds if given (D10). */
export function notSent(message: string, retryAfterMs: number | null = null): PerformResult {
  return { kind: 'not_sent', message, retryAfterMs };
}

/** It may or may not have happened (D10). */
export function uncertain(message: string, retryAfterMs: number | null = null): PerformResult {
  return { kind: 'uncertain', message, retryAfterMs };
}

/** The system has exactly this under the key (D13). */
export function found(item: { externalId?: string | null; result?: Json; note?: string } = {}): LookupResult {
  return { kind: 'found', externalId: item.externalId ?? null, result: item.result ?? null, note: item.note ?? 'the look-up found it' };
}

/** The system answered and has nothing under the key (D13). */
export function absent(note = 'the look-up found nothing under this key'): LookupResult {
  return { kind: 'absent', note };
}

/** The look-up gave no clear answer: never the same as absent (D13). */
export function inconclusive(note: string): LookupResult {
  return { kind: 'inconclusive', note };
}

/** Thrown by an effect: nothing reached the system. The same as returning `notSent`. */
export class NotSent extends Error {
  override readonly name = 'HoldfastNotSent';
}

/** Thrown by an effect: the system refused and nothing happened. The same as returning `rejected`. */
export class Rejected extends Error {
  override readonly name = 'HoldfastRejected';
}
