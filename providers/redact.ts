import type { ModelRequest } from '../contracts/model.js';

/** Longest part of a provider's own message that is kept, in UTF-16 code units. */
const MAX_PROVIDER_MESSAGE = 300;

/** A run of this many characters that also stands in the request counts as quoted from it. */
const QUOTE_LENGTH = 12;

/** Texts shorter than this are too common to be taken for a quotation. */
const MIN_TEXT_LENGTH = 4;

/**
 * Makes a provider's message fit for logs and histories: providers echo keys, prompts and URLs. The key is removed first, while the
 * message is whole, so that clipping cannot leave half of it.
 */
export function redact(message: string, request: ModelRequest, apiKey: string | null): string {
  const withoutKey = apiKey === null || apiKey === '' ? message : message.replaceAll(apiKey, '[key]');
  const clipped = withoutKey.length > MAX_PROVIDER_MESSAGE ? `${withoutKey.slice(0, MAX_PROVIDER_MESSAGE)}…` : withoutKey;
  return hideQuotes(hideUrlDetails(clipped), contentOf(request));
}

function hideUrlDetails(text: string): string {
  return text.replace(/(https?:\/\/)(?:[^\s/?#"'@]*@)?([^\s?#"']*)(?:[?#][^\s"']*)?/giu, '$1$2');
}

function contentOf(request: ModelRequest): string[] {
  const texts = request.messages.flatMap((message) =>
    message.role === 'assistant' ? [message.text, ...message.calls.map((call) => JSON.stringify(call.args))] : [message.text]);
  return [request.system, ...texts];
}

function hideQuotes(message: string, texts: string[]): string {
  const hidden = new Set<number>();
  for (const text of texts) {
    const length = Math.min(QUOTE_LENGTH, text.length);
    if (length < MIN_TEXT_LENGTH) continue;
    for (let start = 0; start + length <= message.length; start++) {
      if (text.includes(message.slice(start, start + length))) for (let i = 0; i < length; i++) hidden.add(start + i);
    }
  }
  let out = '';
  for (let i = 0; i < message.length; i++) out += !hidden.has(i) ? message[i] : hidden.has(i - 1) ? '' : '[…]';
  return out;
}
