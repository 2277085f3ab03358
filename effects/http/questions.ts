import type { HttpEffect } from '../../contracts/effect.js';
import { CallError, clampMessage, retryAfterMs } from '../../domain/failure.js';
import { storableJson } from '../../domain/text.js';
import { isObject } from '../answer-json.js';
import { compareState } from '../expectation.js';
import { snippet } from './body.js';
import { buildRequest, RequestProblem, send, type HttpAnswer, type HttpContext } from './request.js';
import type { EffectCall, PreconditionResult, PreviewResult } from '../types.js';
import { fillUrl } from './url-template.js';

/** 4xx that mean "not now" rather than "no". */
const LATER = new Set([408, 425, 429]);

/** Before and after as the target describes them (D21). Without a preview URL the arguments stand against nothing known. */
export async function previewHttp(context: HttpContext, call: EffectCall<HttpEffect>, signal: AbortSignal): Promise<PreviewResult> {
  const { effect, key, args } = call;
  const preview = effect.approval?.preview ?? null;
  if (preview === null || !('url' in preview)) return { kind: 'preview', before: {}, after: args };
  const body = JSON.stringify({ key, args });
  const answer = await ask(context, call, { method: 'POST', url: preview.url, body }, 'preview', signal);
  if (isNo(answer.status)) return { kind: 'refused', message: clampMessage(`the preview answered ${answer.status}: ${snippet(answer.body)}`) };
  const value = answer.body.kind === 'json' ? answer.body.value : undefined;
  if (answer.status !== 200 || !isObject(value)) throw notUsable('preview', answer);
  const before = value['before'] === null ? {} : value['before'];
  const after = value['after'] === null ? {} : value['after'];
  if (!isObject(before) || !isObject(after)) throw notUsable('preview', answer);
  return { kind: 'preview', before: storableJson(before), after: storableJson(after) };
}

/** The target conditions of an approval, asked again at execution (D25). Every field of `expect` must be equal, deeply. */
export async function checkPrecondition(context: HttpContext, call: EffectCall<HttpEffect>, signal: AbortSignal): Promise<PreconditionResult> {
  const { effect, key, args } = call;
  const precondition = effect.approval?.precondition ?? null;
  if (precondition === null) return { holds: true };
  if (!('url' in precondition)) return { holds: false, message: 'the precondition of an HTTP effect needs an address' };
  const filled = fillUrl(precondition.url, key, args);
  if (!filled.ok) return { holds: false, message: `the precondition cannot be checked: ${filled.problem}` };
  const answer = await ask(context, call, { method: 'GET', url: filled.url }, 'precondition', signal);
  if (isNo(answer.status)) return { holds: false, message: clampMessage(`the precondition answered ${answer.status}: ${snippet(answer.body)}`) };
  const value = answer.body.kind === 'json' ? answer.body.value : undefined;
  if (answer.status !== 200 || !isObject(value)) throw notUsable('precondition', answer);
  return compareState(precondition.expect, value);
}

async function ask(
  context: HttpContext, call: EffectCall<HttpEffect>, target: { method: string; url: string; body?: string }, what: string, signal: AbortSignal,
): Promise<HttpAnswer> {
  try {
    const sent = await send(context, buildRequest(context, call.effect, target), signal);
    if (sent.kind === 'answer') return sent.answer;
    throw new CallError('retryable', `${what} of "${call.effect.name}": ${sent.message}`);
  } catch (error) {
    if (error instanceof RequestProblem) throw new CallError('terminal', error.message);
    throw error;
  }
}

function isNo(status: number): boolean {
  return status >= 400 && status < 500 && !LATER.has(status);
}

function notUsable(what: string, { status, headers, body }: HttpAnswer): CallError {
  return new CallError('retryable', `the ${what} answered ${status} without what is needed: ${snippet(body)}`, retryAfterMs(headers.get('retry-after'), Date.now()));
}
