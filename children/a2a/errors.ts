import { A2AError, A2A_ERROR_CODE, TaskNotFoundError, isJsonRpcError, isRestError } from '@a2a-js/sdk/errors';
import { clampMessage } from '../../domain/failure.js';
import { NotSent, StatusError } from './guarded-fetch.js';
import type { Hide } from './guarded-fetch.js';

/** Errors that arise before a connection can carry a request. */
const BEFORE_ANY_BYTE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** Statuses and A2A errors by which a server says that it did not take a request. 408, 409, 429 and 5xx never do (D10). */
const REJECTING_STATUS = new Set([400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422]);
const NOT_REJECTING_CODE: number[] = [A2A_ERROR_CODE.INTERNAL_ERROR, A2A_ERROR_CODE.INVALID_AGENT_RESPONSE];

/** What an error says about the request that it ended (D10). */
export function verdictOf(error: unknown): 'not_sent' | 'rejected' | 'uncertain' {
  if (error instanceof NotSent) return 'rejected';
  if (BEFORE_ANY_BYTE.has(codeOf(error))) return 'not_sent';
  if (error instanceof StatusError) return REJECTING_STATUS.has(error.status) ? 'rejected' : 'uncertain';
  if (isJsonRpcError(error)) return error.envelopeCode < 0 && error.envelopeCode >= -32_768 && !NOT_REJECTING_CODE.includes(error.envelopeCode) ? 'rejected' : 'uncertain';
  if (isRestError(error)) return REJECTING_STATUS.has(error.statusCode) ? 'rejected' : 'uncertain';
  return 'uncertain';
}

/** What the server asked to wait before the next try, in milliseconds and clamped; null when it did not. */
export function retryAfterOf(error: unknown): number | null {
  return error instanceof StatusError ? error.retryAfterMs : null;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof TaskNotFoundError;
}

/** Why a request failed, in a few words that hold no secret. Without `hide` nothing of an answer is told. */
export function reasonOf(error: unknown, hide: Hide | null): string {
  const code = codeOf(error);
  if (code !== '') return code;
  if (error instanceof DOMException) return 'no answer within the time limit';
  if (error instanceof NotSent || error instanceof StatusError) return error.message;
  if (hide === null) return 'its answer cannot be used';
  const text = error instanceof Error ? error.message : '';
  return clampMessage(hide(error instanceof A2AError ? text : `its answer cannot be used: ${text.slice(0, 300)}`));
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  return typeof first === 'object' && first !== null && 'code' in first && typeof first.code === 'string' ? first.code : '';
}
