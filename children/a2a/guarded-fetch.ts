import type { A2aChild } from '../../contracts/definition.js';
import { retryAfterMs } from '../../domain/failure.js';

/** Largest answer that is read, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Limit of a request that brings none of its own (for the agent card), in milliseconds. */
const CARD_TIMEOUT_MS = 10_000;

/** A request that cannot be made from our own configuration or that the agent's card would send elsewhere: nothing has left, and a repeat cannot help. */
export class NotSent extends Error {}

/** The remote agent answered with a status that is no success and no A2A error. */
export class StatusError extends Error {
  constructor(
    readonly status: number,
    readonly retryAfterMs: number | null,
  ) {
    super(`it answered with HTTP status ${status}`);
  }
}

/** Too many requests, not available: what stands in front of an agent says this, whatever the body looks like. */
const BUSY = new Set([429, 503]);

/** Finds secrets of a child that came back in a text and hides them. */
export type Hide = (text: string) => string;

/** Headers of a child with their secrets. Throws `NotSent` that names the variable, never its value. */
export function secretHeaders(child: A2aChild, secrets: (envName: string) => string | undefined): { headers: Record<string, string>; hide: Hide } {
  const values = Object.entries(child.headersEnv).map(([name, envName]): [string, string] => {
    const value = secrets(envName);
    if (value === undefined || value === '') throw new NotSent(`environment variable ${envName} is not set; header ${name} of child "${child.name}" needs it`);
    return [name, value];
  });
  const hidden = values.flatMap(([, value]) => value.split(/\s+/).filter((part) => part.length >= 8));
  return { headers: Object.fromEntries(values), hide: (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text) };
}

/**
 * `fetch` for one child: it goes to the origin of the configured address only, because the card that a remote agent shows must not choose who
 * gets the secrets; it follows no redirect, because a followed POST may act twice; and it reads a bounded answer.
 */
export function guardedFetch(child: A2aChild, headers: Record<string, string>): typeof fetch {
  const { origin } = new URL(child.url);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw new NotSent(`the agent card names the server ${url.origin}; children.${child.name}.url is at ${origin}, and nothing is sent elsewhere`);
    const response = await fetch(url, { ...init, headers: { ...plain(init?.headers), ...headers }, redirect: 'manual', signal: init?.signal ?? AbortSignal.timeout(CARD_TIMEOUT_MS) });
    const body = await bounded(response);
    if (BUSY.has(response.status) || (!response.ok && !isA2aError(body))) throw new StatusError(response.status, retryAfterMs(response.headers.get('retry-after'), Date.now()));
    return new Response(body, { status: response.status, headers: { 'content-type': response.headers.get('content-type') ?? 'application/json' } });
  };
}

function plain(headers: ConstructorParameters<typeof Headers>[0]): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`its answer is larger than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isA2aError(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && 'error' in value;
  } catch {
    return false;
  }
}
