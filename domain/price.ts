import type { ModelDefinition, ModelReply, ModelRequest } from '../contracts/model.js';

/** Tokens that a reply may have when nobody limits them: more than the models of today give unasked. */
const UNLIMITED_OUTPUT_TOKENS = 16_384;

type Priced = Pick<ModelDefinition, 'maxOutputTokens' | 'price'>;

/** The most that a call can use (D33): a token is at least one byte of the request; the reply is as long as the model may make it. */
export function reserveOf(model: Priced, request: ModelRequest): { tokens: number; micros: number } {
  const input = utf8Bytes(JSON.stringify(request));
  const output = model.maxOutputTokens ?? UNLIMITED_OUTPUT_TOKENS;
  return { tokens: input + output, micros: micros(model, input, output) };
}

/** What a call has cost, in millionths of a US dollar; 0 where no price is known. */
export function costOf(model: Priced, reply: Pick<ModelReply, 'inputTokens' | 'outputTokens'>): number {
  return micros(model, reply.inputTokens, reply.outputTokens);
}

/** A dollar for a million tokens is a millionth of a dollar for each. */
function micros({ price }: Priced, input: number, output: number): number {
  return price === null ? 0 : Math.ceil(input * price.input + output * price.output);
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
