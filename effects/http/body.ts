import type { Json } from '../../contracts/json.js';
import { clip, storableJson } from '../../domain/text.js';
import { readAnswerJson } from '../answer-json.js';
import { clipped, MAX_RESULT_CHARS } from '../clipped.js';

/** Most that is read of one answer, in bytes after decompression. */
export const MAX_BODY_BYTES = 10_000_000;
const SNIPPET_CHARS = 300;

/** The body of an answer. `json` keeps digits exactly and is not yet fit for storage: see `toResult`. `text` of `too_large` is its beginning. */
export type HttpBody = { kind: 'json'; value: Json; text: string } | { kind: 'text'; text: string } | { kind: 'too_large'; text: string };

/** Reads a body up to the limit; secrets that the target echoes are masked before anything else sees them. Throws when it is cut off. */
export async function readBody(response: Response, hidden: string[]): Promise<HttpBody> {
  const { bytes, whole } = await readBytes(response);
  const text = hidden.reduce((masked, secret) => masked.replaceAll(secret, '***'), new TextDecoder().decode(bytes));
  if (!whole) return { kind: 'too_large', text };
  const value = readAnswerJson(text);
  return value === undefined ? { kind: 'text', text } : { kind: 'json', value, text };
}

async function readBytes(response: Response): Promise<{ bytes: Uint8Array; whole: boolean }> {
  if (response.body === null) return { bytes: new Uint8Array(), whole: true };
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    // Leaving the loop cancels the stream, so the rest is not received.
    if (size > MAX_BODY_BYTES) return { bytes: Buffer.concat(chunks), whole: false };
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

/** A body as the result of an effect: JSON or text, clean for storage. What is too long is cut and says so. */
export function toResult(body: HttpBody): Json {
  if (body.kind === 'too_large') return clipped(body.text, `more than ${MAX_BODY_BYTES} bytes`);
  if (body.text.length > MAX_RESULT_CHARS) return clipped(body.text, `${body.text.length} characters`);
  if (body.kind === 'json') return storableJson(body.value);
  return body.text === '' ? null : storableJson(body.text);
}

/** JSON that came another way than as a body, kept by the same rules. */
export function jsonResult(value: Json): Json {
  return toResult({ kind: 'json', value, text: JSON.stringify(value) });
}

/** The beginning of a body on one line, for messages. */
export function snippet(body: HttpBody): string {
  const line = body.text.slice(0, 10 * SNIPPET_CHARS).replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return line === '' ? '(empty body)' : clip(line, SNIPPET_CHARS).replace('\n', ' ');
}
