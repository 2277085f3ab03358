import { CallError } from '../domain/failure.js';

/** Largest reply that is read, in bytes; more than any model writes. */
export const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/**
 * `fetch` for model calls: redirects are not followed, because key headers such as `x-api-key` would travel along, and a reply is
 * read up to a limit only.
 */
export function guardedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(byteLimit()), { status, statusText, headers });
  };
}

function byteLimit(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_REPLY_BYTES) controller.error(new CallError('terminal', `the model's reply is larger than ${MAX_REPLY_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
