import type { HttpEffect } from '../../contracts/effect.js';
import type { Json } from '../../contracts/json.js';
import { clampMessage } from '../../domain/failure.js';
import { isObject, readId } from '../answer-json.js';
import { jsonResult, snippet } from './body.js';
import { buildRequest, RequestProblem, send, type HttpAnswer, type HttpContext } from './request.js';
import type { EffectCall, LookupResult } from '../types.js';
import { fillUrl } from './url-template.js';

/**
 * Asks whether the effect exists (D13). Found: 200 with one object, or an array with one. Absent: `[]`, 404 or 410. Everything else is
 * inconclusive, also trouble with our own configuration.
 */
export async function lookupHttp(context: HttpContext, call: EffectCall<HttpEffect>, signal: AbortSignal): Promise<LookupResult> {
  const { effect, key, args } = call;
  if (effect.lookup === null) return inconclusive('this effect has no look-up');
  const filled = fillUrl(effect.lookup.url, key, args);
  if (!filled.ok) return inconclusive(`the look-up URL cannot be made: ${filled.problem}`);
  try {
    const sent = await send(context, buildRequest(context, effect, { method: 'GET', url: filled.url }), signal);
    return sent.kind === 'answer' ? judge(call, sent.answer) : inconclusive(`look-up: ${sent.message}`);
  } catch (error) {
    if (error instanceof RequestProblem) return inconclusive(error.message);
    throw error;
  }
}

function judge(call: EffectCall<HttpEffect>, { status, body }: HttpAnswer): LookupResult {
  if (status === 404 || status === 410) return { kind: 'absent', note: `the look-up answered ${status}: nothing under this key` };
  if (status !== 200) return inconclusive(`the look-up answered ${status}: ${snippet(body)}`);
  if (body.kind === 'too_large') return inconclusive('the answer of the look-up is too large to read');
  if (body.kind === 'text') return inconclusive(`the answer of the look-up is not JSON: ${snippet(body)}`);
  if (!Array.isArray(body.value)) return judgeItem(call, body.value);
  if (body.value.length === 0) return { kind: 'absent', note: 'the look-up answered an empty list: nothing under this key' };
  if (body.value.length > 1) return inconclusive(`the look-up found ${body.value.length} matches; one was expected: check them in the target system`);
  return judgeItem(call, body.value[0]);
}

function judgeItem({ effect, key }: EffectCall<HttpEffect>, item: Json | undefined): LookupResult {
  if (!isObject(item) || Object.keys(item).length === 0) return inconclusive('the look-up did not answer with an object or a list of objects');
  const { correlation } = effect;
  const field = correlation !== null && 'field' in correlation ? correlation.field : null;
  const carried = field !== null && Object.hasOwn(item, field) ? item[field] : key;
  // A target that ignores the filter answers with somebody else's item.
  if (carried !== key) return inconclusive(`the look-up found an item whose "${field}" is not this key`);
  const { resultId } = effect.http;
  const externalId = resultId === null ? null : readId(item, resultId);
  if (resultId !== null && externalId === null) return inconclusive(`the look-up found one match without a usable "${resultId}"`);
  return { kind: 'found', externalId, result: jsonResult(item), note: externalId === null ? 'the look-up found one match' : clampMessage(`the look-up found ${externalId}`) };
}

function inconclusive(note: string): LookupResult {
  return { kind: 'inconclusive', note: clampMessage(note) };
}
