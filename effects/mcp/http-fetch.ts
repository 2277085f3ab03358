import { ReadableStream } from 'node:stream/web';
import { MAX_BODY_BYTES } from '../http/body.js';

/** JSON-RPC's code for a connection that ended; the SDK uses the same one. */
const CONNECTION_CLOSED = -32000;

/**
 * The `fetch` that the SDK's HTTP transport is given. It never follows a redirect (a followed POST may act twice), bounds answers, opens no
 * stream for messages that nobody asked for, and ends a request whose event stream ends without its answer: the SDK would wait for ever.
 */
export function guardedFetch(base: typeof fetch): typeof fetch {
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') return new Response(null, { status: 405 });
    const response = await base(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error(`the server answered ${response.status}; redirects are not followed`);
    }
    if (response.body === null) return response;
    const id = response.headers.get('content-type')?.startsWith('text/event-stream') === true ? requestIdOf(init?.body) : null;
    const { status, statusText, headers } = response;
    const body = ReadableStream.from(id === null ? bounded(response.body) : withEnd(response.body, id));
    return new Response(body, { status, statusText, headers });
  };
}

/** Id of the one request in a body that we wrote; null for a notification. */
function requestIdOf(body: unknown): number | null {
  const message: unknown = typeof body === 'string' ? JSON.parse(body) : null;
  const id: unknown = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'number' ? id : null;
}

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the answer has more than ${MAX_BODY_BYTES} bytes`);
    yield chunk;
  }
}

/** In the stream itself, so that it comes after everything else in it; a request that has its answer ignores it. */
async function* withEnd(body: AsyncIterable<Uint8Array>, id: number): AsyncGenerator<Uint8Array> {
  let message = 'the connection ended before the answer';
  try {
    yield* bounded(body);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('the answer has more')) message = error.message;
  }
  yield new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: CONNECTION_CLOSED, message } })}\n\n`);
}
