import { APICallError, InvalidResponseDataError } from '@ai-sdk/provider';
import { CallError, retryAfterMs } from '../domain/failure.js';

/**
 * The only place that classifies failures of model calls (D35). A model call has no effect in the outside world, so an answer
 * that cannot be read is as retryable as no answer.
 * | failure | class |
 * | --- | --- |
 * | no connection, reset, cut off, unreadable success | retryable |
 * | 408, 409, 429, 5xx | retryable, after Retry-After |
 * | any other status, redirects included | terminal |
 * | anything that failed before the request left | terminal |
 */
export function toCallError(error: unknown, clean: (message: string) => string, nowMs: number): CallError {
  const own = causesOf(error).find((cause) => cause instanceof CallError);
  if (own !== undefined) return own;
  if (APICallError.isInstance(error)) return fromApi(error, clean, nowMs);
  if (InvalidResponseDataError.isInstance(error)) return new CallError('retryable', 'the model provider sent a reply without content');
  return new CallError('terminal', `the model request could not be made: ${clean(error instanceof Error ? error.message : 'unknown error')}`);
}

function fromApi(error: APICallError, clean: (message: string) => string, nowMs: number): CallError {
  const status = error.statusCode;
  if (status === undefined) return new CallError('retryable', `no connection to the model provider: ${codeOf(error) ?? clean(error.message)}`);
  if (status >= 200 && status < 300) return new CallError('retryable', `the model provider sent an unreadable reply with status ${status}`);
  const message = `the model provider answered ${status}: ${clean(error.message)}`;
  const mayPass = status === 408 || status === 409 || status === 429 || status >= 500;
  return mayPass ? new CallError('retryable', message, retryAfterMs(error.responseHeaders?.['retry-after'] ?? null, nowMs)) : new CallError('terminal', message);
}

/** Causes nest a few levels deep; the bound guards against a cycle. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 10; current = current.cause) causes.push(current);
  return causes;
}

function codeOf(error: Error): string | undefined {
  return causesOf(error).map((cause) => ('code' in cause && typeof cause.code === 'string' ? cause.code : undefined)).find((code) => code !== undefined);
}
