import type { HttpEffect } from '../../contracts/effect.js';
import { networkReason, neverSent } from './network-error.js';
import { readBody, type HttpBody } from './body.js';

/** What the parts of the http adapter share. */
export interface HttpContext {
  secrets: (envName: string) => string | undefined;
  fetch: typeof fetch;
}

/** A request that is ready to leave. `hidden` are secret texts that must not come back out of an answer. */
export interface HttpRequest {
  method: string;
  url: string;
  headers: Headers;
  body: string | null;
  hidden: string[];
}

export interface HttpAnswer {
  status: number;
  headers: Headers;
  body: HttpBody;
}

/** `not_sent`: proven that no byte reached the target; `lost`: it may have, and no whole answer came back. */
export type Sent = { kind: 'answer'; answer: HttpAnswer } | { kind: 'not_sent'; message: string } | { kind: 'lost'; message: string };

/** A request that cannot be built from our own configuration; it says which setting is wrong and never its value. */
export class RequestProblem extends Error {}

/** Builds a request with the secret headers of the effect. Throws `RequestProblem`. `own` headers win over configured ones. */
export function buildRequest(
  context: HttpContext, effect: HttpEffect, target: { method: string; url: string; body?: string; own?: Record<string, string> },
): HttpRequest {
  const headers = new Headers({ accept: 'application/json' });
  if (target.body !== undefined) headers.set('content-type', 'application/json');
  const hidden: string[] = [];
  for (const [name, envName] of Object.entries(effect.http.headersEnv)) {
    const value = context.secrets(envName);
    if (value === undefined || value === '') throw new RequestProblem(`effect "${effect.name}": environment variable ${envName} is not set; header ${name} needs it`);
    setHeader(headers, effect, name, value);
    hidden.push(...value.split(/\s+/).filter((part) => part.length >= 8));
  }
  for (const [name, value] of Object.entries(target.own ?? {})) setHeader(headers, effect, name, value);
  checkUrl(target.url, effect);
  return { method: target.method, url: target.url, headers, body: target.body ?? null, hidden };
}

function setHeader(headers: Headers, effect: HttpEffect, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new RequestProblem(`effect "${effect.name}": header ${JSON.stringify(name)} or its value is not usable in HTTP`);
  }
}

function checkUrl(url: string, effect: HttpEffect): void {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const usable = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '';
  if (!usable) throw new RequestProblem(`effect "${effect.name}": its URL must be http(s) and hold no credentials; put those into headers`);
}

/** Sends once and reads the whole answer, bounded. Redirects are not followed: a followed POST may act twice. */
export async function send(context: HttpContext, request: HttpRequest, signal: AbortSignal): Promise<Sent> {
  if (signal.aborted) return { kind: 'not_sent', message: 'the call was ended before it began' };
  const { method, url, headers, body, hidden } = request;
  let response: Response;
  try {
    response = await context.fetch(url, { method, headers, body, signal, redirect: 'manual' });
  } catch (error) {
    if (!signal.aborted && neverSent(error)) return { kind: 'not_sent', message: `the target cannot be reached: ${networkReason(error)}` };
    return { kind: 'lost', message: lostMessage('no answer', error, signal) };
  }
  try {
    return { kind: 'answer', answer: { status: response.status, headers: response.headers, body: await readBody(response, hidden) } };
  } catch (error) {
    return { kind: 'lost', message: lostMessage(`status ${response.status}, but its body was cut off`, error, signal) };
  }
}

function lostMessage(what: string, error: unknown, signal: AbortSignal): string {
  return signal.aborted ? `${what} within the time limit` : `${what}: ${networkReason(error)}`;
}
