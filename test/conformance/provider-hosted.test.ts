import { describe, expect, it } from 'vitest';
import type { ModelDefinition, ModelRequest } from '../../contracts/model.js';
import { createProviders } from '../../providers/registry.js';

/** The hosted providers cannot be reached from a test: `fetch` is replaced by a recorded answer in each provider's own form. */
const request: ModelRequest = {
  agent: 'booking',
  system: 'You book tables.',
  messages: [
    { role: 'user', text: 'two tables' },
    { role: 'assistant', text: '', calls: [{ id: 'c_1', name: 'reserve', args: { people: 2 } }, { id: 'c_2', name: 'reserve', args: {} }] },
    { role: 'tool', callId: 'c_1', name: 'reserve', text: '{"ok":true}' },
    { role: 'tool', callId: 'c_2', name: 'reserve', text: 'rejected' },
    { role: 'user', text: 'go on' },
  ],
  tools: [{ name: 'reserve', description: 'Reserve a table', inputSchema: { type: 'object', properties: { people: { type: 'integer' } } } }],
};

interface Sent { url: string; headers: Headers; body: { [key: string]: unknown } }

async function exchange(provider: ModelDefinition['provider'], answer: unknown, status = 200) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push({ url: String(input), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
    return new Response(JSON.stringify(answer), { status, headers: { 'content-type': 'application/json', 'retry-after': '3' } });
  };
  const model: ModelDefinition = { alias: 'default', provider, model: 'm-1', baseUrl: null, apiKeyEnv: 'KEY', timeoutMs: 5000, maxOutputTokens: null, price: null, rules: [] };
  const reply = await createProviders({ secrets: () => 'sk-1', fetch }).generate(model, request, new AbortController().signal).catch((error: unknown) => error);
  return { sent, reply };
}

describe('openai', () => {
  const answer = (message: object, finish_reason: string) => ({
    id: 'x', created: 1, model: 'm-1', choices: [{ index: 0, message, finish_reason }], usage: { prompt_tokens: 9, completion_tokens: 4 },
  });

  it('D7: keeps argument text, counts tokens and sends the key as bearer', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'reserve', arguments: '{"people":' } };
    const { sent, reply } = await exchange('openai', answer({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls'));
    expect(reply).toEqual({
      text: '', calls: [{ providerCallId: 'call_1', name: 'reserve', argsText: '{"people":' }], finish: 'tool_calls', inputTokens: 9, outputTokens: 4,
    });
    expect(sent.map((one) => one.url)).toEqual(['https://api.openai.com/v1/chat/completions']);
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer sk-1');
  });

  it('D7: a refusal is refused', async () => {
    expect((await exchange('openai', answer({ role: 'assistant', content: null, refusal: 'No.' }, 'stop'))).reply).toMatchObject({ finish: 'refused', text: 'No.' });
  });
});

describe('anthropic', () => {
  const answer = (content: object[], stop_reason: string) => ({
    type: 'message', id: 'x', model: 'm-1', role: 'assistant', content, stop_reason, stop_sequence: null, usage: { input_tokens: 9, output_tokens: 4 },
  });

  it('D6: results of one reply are one user message, and roles alternate', async () => {
    const { sent, reply } = await exchange('anthropic', answer([{ type: 'tool_use', id: 'toolu_1', name: 'reserve', input: { people: 2 } }], 'tool_use'));
    expect(reply).toMatchObject({ calls: [{ providerCallId: 'toolu_1', argsText: '{"people":2}' }], finish: 'tool_calls', inputTokens: 9, outputTokens: 4 });
    expect(sent[0]?.headers.get('x-api-key')).toBe('sk-1');
    const messages = sent[0]?.body.messages as { role: string; content: { type: string; tool_use_id?: string }[] }[];
    expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[2]?.content.map((part) => part.tool_use_id ?? part.type)).toEqual(['c_1', 'c_2', 'text']);
  });

  it.each([['refusal', 'refused'], ['max_tokens', 'length'], ['end_turn', 'stop']])('D7: stop reason %s is %s', async (reason, finish) => {
    expect((await exchange('anthropic', answer([{ type: 'text', text: 'x' }], reason))).reply).toMatchObject({ finish });
  });

  it('D35: overloaded is retryable', async () => {
    const { reply } = await exchange('anthropic', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
    expect(reply).toMatchObject({ failure: 'retryable', retryAfterMs: 3000, message: 'the model provider answered 529: Overloaded' });
  });
});

describe('google', () => {
  const answer = (parts: object[], finishReason: string) => ({
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  });

  it('D6: results of one reply are together, and the key is a header, not part of the URL', async () => {
    const { sent, reply } = await exchange('google', answer([{ functionCall: { name: 'reserve', args: { people: 2 } } }], 'STOP'));
    expect(reply).toMatchObject({ calls: [{ name: 'reserve', argsText: '{"people":2}' }], finish: 'tool_calls', inputTokens: 9, outputTokens: 4 });
    expect(sent[0]?.headers.get('x-goog-api-key')).toBe('sk-1');
    expect(sent[0]?.url).toBe('https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent');
    const contents = sent[0]?.body.contents as { role: string; parts: object[] }[];
    expect(contents.map((content) => [content.role, content.parts.length])).toEqual([['user', 1], ['model', 2], ['user', 2], ['user', 1]]);
  });

  it.each([['SAFETY', 'refused'], ['MAX_TOKENS', 'length'], ['MALFORMED_FUNCTION_CALL', 'other']])('D7: finish reason %s is %s', async (reason, finish) => {
    expect((await exchange('google', answer([{ text: 'x' }], reason))).reply).toMatchObject({ finish });
  });
});
