import type { HttpEffect } from '../../contracts/effect.js';
import { clampMessage, retryAfterMs } from '../../domain/failure.js';
import { buildRequest, RequestProblem, send, type HttpAnswer, type HttpContext, type HttpRequest } from './request.js';
import { namesMismatch, readId } from '../answer-json.js';
import { fillUrl } from './url-template.js';
import { snippet, toResult } from './body.js';
import type { EffectCall, PerformResult } from '../types.js';

/** Statuses that may carry such a code; a bare 409 may as well mean "still running". */
const MISMATCH_STATUS = new Set([400, 409, 422]);

/**
 * One physical call (D10): arguments as the body (I6), the logical key as idempotency key and correlation. A request that cannot be
 * built, for instance because a secret is not set, is `not_sent` with a message that names the setting.
 */
export async function performHttp(context: HttpContext, call: EffectCall<HttpEffect>, signal: AbortSignal): Promise<PerformResult> {
  let request: HttpRequest;
  try {
    request = effectRequest(context, call);
  } catch (error) {
    if (error instanceof RequestProblem) return { kind: 'not_sent', message: error.message, retryAfterMs: null };
    throw error;
  }
  const sent = await send(context, request, signal);
  if (sent.kind === 'not_sent') return { kind: 'not_sent', message: sent.message, retryAfterMs: null };
  if (sent.kind === 'lost') return { kind: 'uncertain', message: sent.message, retryAfterMs: null };
  return judge(call, sent.answer);
}

function effectRequest(context: HttpContext, { effect, key, args }: EffectCall<HttpEffect>): HttpRequest {
  const { http, idempotency, correlation } = effect;
  const own: Record<string, string> = {};
  if (correlation !== null && 'header' in correlation) own[correlation.header] = key;
  if (idempotency !== null) own[idempotency.header] = key;
  const field = correlation !== null && 'field' in correlation ? correlation.field : null;
  // The arguments were approved as they are: replacing one in silence is not allowed (D21).
  if (field !== null && Object.hasOwn(args, field)) throw new RequestProblem(`effect "${effect.name}": "${field}" carries Holdfast's key and cannot be an argument`);
  const body = JSON.stringify(field === null ? args : { ...args, [field]: key });
  const filled = fillUrl(http.url, key, args);
  if (!filled.ok) throw new RequestProblem(`effect "${effect.name}": ${filled.problem}`);
  return buildRequest(context, effect, { method: http.method, url: filled.url, body, own });
}

function judge({ effect, key }: EffectCall<HttpEffect>, answer: HttpAnswer): PerformResult {
  const { status, headers, body } = answer;
  const message = clampMessage(`the target answered ${status}: ${snippet(body)}`);
  if (status >= 200 && status < 300) return judgeSuccess(effect.http.resultId, answer);
  // Before the declared rejections: this is no word about the call but about its key (D14).
  if (effect.idempotency?.onMismatch === 'conflict' && saysMismatch(answer)) {
    return { kind: 'conflict', message: clampMessage(`the target knows the key ${key} with other arguments: ${snippet(body)}`) };
  }
  if (effect.http.rejects.includes(status)) return { kind: 'rejected', result: toResult(body), message };
  const note = status === 409 ? ' (409 may mean that an earlier call is still running, so it is not taken as a rejection)' : '';
  return { kind: 'uncertain', message: `${message}${note}`, retryAfterMs: retryAfterMs(headers.get('retry-after'), Date.now()) };
}

/** A success whose declared id cannot be read is uncertain: a look-up or a resend under the same key may still bring the id (D13). */
function judgeSuccess(resultId: string | null, { status, body }: HttpAnswer): PerformResult {
  if (resultId === null) return { kind: 'succeeded', externalId: null, result: toResult(body) };
  const externalId = body.kind === 'json' ? readId(body.value, resultId) : null;
  if (externalId !== null) return { kind: 'succeeded', externalId, result: toResult(body) };
  const message = clampMessage(`the target answered ${status} without a usable "${resultId}": ${snippet(body)}`);
  return { kind: 'uncertain', message, retryAfterMs: null };
}

function saysMismatch({ status, body }: HttpAnswer): boolean {
  return MISMATCH_STATUS.has(status) && body.kind === 'json' && namesMismatch(body.value);
}
