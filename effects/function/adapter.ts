import type { FunctionEffect } from '../../contracts/effect.js';
import type { Json } from '../../contracts/json.js';
import { CallError, clampMessage } from '../../domain/failure.js';
import { storableJson } from '../../domain/text.js';
import { isObject, toJson } from '../answer-json.js';
import { expectFields } from '../expect.js';
import type { EffectAdapter, EffectCall, LookupResult, PerformResult, PreconditionResult, PreviewResult } from '../types.js';
import { readLookedUp, readPerformed } from './answers.js';
import type { DefinedEffect, EffectQuestion } from './define.js';
import { runUntil, type Ended } from './run.js';

type Call = EffectCall<FunctionEffect>;

/** Finds the functions of an effect among those that were loaded when the worker started; nothing is loaded later. */
export type FindFunctions = (effect: FunctionEffect) => DefinedEffect | undefined;

const TOO_LATE = 'the function did not end within its time limit';

/** Effects written in TypeScript (D20). Nothing that a function returns is trusted: shape, size and text are checked. */
export function createFunctionAdapter(find: FindFunctions): EffectAdapter<FunctionEffect> {
  return {
    perform: (call, signal) => perform(find(call.effect), call, signal),
    lookup: (call, signal) => lookup(find(call.effect), call, signal),
    preview: (call, signal) => preview(find(call.effect), call, signal),
    precondition: (call, signal) => precondition(find(call.effect), call, signal),
  };
}

async function perform(functions: DefinedEffect | undefined, call: Call, signal: AbortSignal): Promise<PerformResult> {
  if (functions === undefined) return { kind: 'not_sent', message: notLoaded(call), retryAfterMs: null };
  if (signal.aborted) return { kind: 'not_sent', message: 'the call was ended before it began', retryAfterMs: null };
  const ended = await runUntil(() => functions.perform({ ...question(call, signal), physicalCallId: call.physicalCallId }), signal);
  return ended.kind === 'aborted' ? { kind: 'uncertain', message: `${TOO_LATE}; it goes on`, retryAfterMs: null, late: ended.late.then(judge) } : judge(ended);
}

function judge(ended: Exclude<Ended, { kind: 'aborted' }>): PerformResult {
  if (ended.kind === 'value') return readPerformed(ended.value);
  const message = clampMessage(ended.message);
  if (ended.as === 'rejected') return { kind: 'rejected', result: null, message };
  if (ended.as === 'not_sent') return { kind: 'not_sent', message, retryAfterMs: null };
  return { kind: 'uncertain', message: clampMessage(`the function failed: ${ended.message}`), retryAfterMs: null };
}

async function lookup(functions: DefinedEffect | undefined, call: Call, signal: AbortSignal): Promise<LookupResult> {
  if (call.effect.lookup === null) return { kind: 'inconclusive', note: 'this effect has no look-up' };
  if (functions === undefined) return { kind: 'inconclusive', note: notLoaded(call) };
  const ended = await runUntil(() => functions.lookup?.(question(call, signal)), signal);
  if (ended.kind === 'value') return readLookedUp(ended.value);
  return { kind: 'inconclusive', note: ended.kind === 'aborted' ? TOO_LATE : clampMessage(`the look-up failed: ${ended.message}`) };
}

async function preview(functions: DefinedEffect | undefined, call: Call, signal: AbortSignal): Promise<PreviewResult> {
  if (call.effect.approval?.preview == null) return { kind: 'preview', before: {}, after: call.args };
  const answer = await ask('preview', functions, call, signal);
  if (answer.kind === 'refused') return { kind: 'refused', message: answer.message };
  if (!isObject(answer.value) || !isObject(answer.value['before']) || !isObject(answer.value['after'])) {
    throw new CallError('terminal', `the preview of "${call.effect.name}" must return { before, after }, two plain objects`);
  }
  return { kind: 'preview', before: storableJson(answer.value['before']), after: storableJson(answer.value['after']) };
}

async function precondition(functions: DefinedEffect | undefined, call: Call, signal: AbortSignal): Promise<PreconditionResult> {
  const expected = call.effect.approval?.precondition ?? null;
  if (expected === null) return { holds: true };
  const answer = await ask('precondition', functions, call, signal);
  if (answer.kind === 'refused') return { holds: false, message: answer.message };
  if (answer.value === null) return { holds: false, message: 'the precondition no longer holds' };
  if (!isObject(answer.value)) throw new CallError('terminal', `the precondition of "${call.effect.name}" must return a plain object or null`);
  return expectFields(expected.expect, answer.value);
}

type Answer = { kind: 'state'; value: Json | undefined } | { kind: 'refused'; message: string };

/** Asks before anything is caused: trouble is tried again, a `Rejected` is a no. */
async function ask(what: 'preview' | 'precondition', functions: DefinedEffect | undefined, call: Call, signal: AbortSignal): Promise<Answer> {
  if (functions === undefined) throw new CallError('terminal', notLoaded(call));
  const ended = await runUntil(() => functions[what]?.(question(call, signal)), signal);
  if (ended.kind === 'value') return { kind: 'state', value: toJson(ended.value) };
  if (ended.kind === 'thrown' && ended.as === 'rejected') return { kind: 'refused', message: clampMessage(ended.message) };
  throw new CallError('retryable', `${what} of "${call.effect.name}": ${ended.kind === 'aborted' ? TOO_LATE : ended.message}`);
}

/** The arguments are a copy: a function that changes them changes nothing of ours. */
function question({ key, args }: Call, signal: AbortSignal): EffectQuestion {
  return { key, args: structuredClone(args), signal };
}

function notLoaded({ effect }: Call): string {
  return `effect "${effect.name}": this worker has not loaded "${effect.function.export}" of ${effect.function.module}; its configuration no longer names it`;
}
