import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelDefinition, ModelRequest } from '../../contracts/model.js';
import { CallError, MAX_RETRY_AFTER_MS } from '../../domain/failure.js';
import { MAX_REPLY_BYTES } from '../../providers/guarded-fetch.js';
import { createProviders } from '../../providers/registry.js';
import type { ScriptedReply } from '../../testing/index.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';

const KEY = 'sk-live-0123456789abcdef';
const PROMPT = 'my card number is 4000 1234 5678 9010';
const provider = createProviders({ secrets: (name) => (name === 'TEST_KEY' ? KEY : undefined) });
const tools = [{ name: 'reserve', description: 'Reserve a table', inputSchema: { type: 'object', properties: { people: { type: 'integer' } } } }];
const request: ModelRequest = { agent: 'booking', system: 'You book tables.', messages: [{ role: 'user', text: PROMPT }], tools };

let fake: FakeModel;
beforeAll(async () => { fake = await startFakeModel(); });
afterAll(() => fake.close());

function model(changes: Partial<ModelDefinition> = {}): ModelDefinition {
  return { alias: 'default', provider: 'openai_compatible', model: 'm-1', baseUrl: fake.url, apiKeyEnv: 'TEST_KEY', timeoutMs: 10_000, maxOutputTokens: null, price: null, rules: [], ...changes };
}

function ask(reply: ScriptedReply, changes: Partial<ModelRequest> = {}) {
  fake.script([reply]);
  return provider.generate(model(), { ...request, ...changes }, new AbortController().signal);
}

async function failureOf(call: Promise<unknown>): Promise<CallError> {
  const error = await call.then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(CallError);
  return error as CallError;
}

describe('a reply', () => {
  it('D6: text arrives with its token counts', async () => {
    const reply = await ask({ text: 'Done. 예약했습니다 🙂', usage: { prompt_tokens: 12, completion_tokens: 3 } });
    expect(reply).toEqual({ text: 'Done. 예약했습니다 🙂', calls: [], finish: 'stop', inputTokens: 12, outputTokens: 3 });
  });

  it('D6: parallel calls arrive in order, with the ids of the provider', async () => {
    const reply = await ask({ calls: [{ name: 'reserve', args: { people: 2 } }, { name: 'reserve', args: { people: 3 }, id: 'x' }] });
    expect(reply.finish).toBe('tool_calls');
    expect(reply.calls).toEqual([
      { providerCallId: 'call_1', name: 'reserve', argsText: '{"people":2}' }, { providerCallId: 'x', name: 'reserve', argsText: '{"people":3}' },
    ]);
  });

  it.each(['', '   ', '{"people": 2', '[1]', 'null', '"{}"', '{"people":2}{"people":3}', '{"n":12345678901234567890}', '{"a":1.0,"a":2}', '{"t":"\u0000"}'])(
    'D7: argument text %j is kept as it was written', async (argsText) => {
      const reply = await ask({ calls: [{ name: 'reserve', argsText }] });
      expect(reply.calls).toEqual([{ providerCallId: 'call_1', name: 'reserve', argsText }]);
    });

  it.each<[string, ScriptedReply, string]>([
    ['length', { text: 'half a sen', finish: 'length' }, 'length'],
    ['length in the middle of a call', { calls: [{ name: 'reserve', argsText: '{"peo' }], finish: 'length' }, 'length'],
    ['content_filter', { text: '', finish: 'content_filter' }, 'refused'],
    ['a refusal', { refusal: 'I cannot help with that.' }, 'refused'],
    ['a refusal with another reason', { refusal: 'No.', finish: 'tool_calls' }, 'refused'],
    ['calls that end with stop', { calls: [{ name: 'reserve', args: {} }], finish: 'stop' }, 'tool_calls'],
    ['an unknown reason', { text: 'x', finish: 'eos' }, 'other'],
    ['no reason', { text: 'x', finish: null }, 'other'],
    ['an empty reply', { text: '' }, 'stop'],
  ])('D7: %s', async (_name, reply, finish) => {
    expect((await ask(reply)).finish).toBe(finish);
  });

  it('D7: the text of a refusal is kept', async () => {
    expect((await ask({ refusal: 'I cannot help with that.' })).text).toBe('I cannot help with that.');
  });
});

describe('a request', () => {
  it('D6: a conversation with parallel results is accepted by a strict provider, with our own call ids', async () => {
    await ask({ text: 'ok' }, {
      messages: [
        { role: 'user', text: 'two tables' },
        { role: 'assistant', text: ' ', calls: [{ id: 'c_1', name: 'reserve', args: { people: 2 } }, { id: 'c_2', name: 'reserve', args: {} }] },
        { role: 'tool', callId: 'c_2', name: 'reserve', text: '{"ok":true}' },
        { role: 'tool', callId: 'c_1', name: 'reserve', text: 'rejected' },
        { role: 'assistant', text: 'One table.', calls: [] },
        { role: 'user', text: 'thanks' },
      ],
    });
    const sent = fake.requests.at(-1)?.body;
    expect(sent?.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
    expect(sent?.messages[2]).toMatchObject({ content: null, tool_calls: [{ id: 'c_1', function: { arguments: '{"people":2}' } }, { id: 'c_2' }] });
    expect(sent?.messages[3]).toEqual({ role: 'tool', tool_call_id: 'c_2', content: '{"ok":true}' });
    expect(sent?.tools?.[0]?.function).toEqual({ name: 'reserve', description: 'Reserve a table', parameters: tools[0]?.inputSchema });
    expect(fake.requests.at(-1)?.authorization).toBe(`Bearer ${KEY}`);
    expect(fake.violations).toEqual([]);
  });

  it('D6: without tools and system prompt both are left out', async () => {
    await ask({ text: 'ok' }, { tools: [], system: '' });
    expect(fake.requests.at(-1)?.body).toEqual({ model: 'm-1', messages: [{ role: 'user', content: PROMPT }] });
  });
});

describe('a failure', () => {
  it.each<[number, string | null, 'retryable' | 'terminal', number | null]>([
    [429, '7', 'retryable', 7000],
    [429, '99999999', 'retryable', MAX_RETRY_AFTER_MS],
    [429, 'soon', 'retryable', null],
    [503, '1', 'retryable', 1000],
    [408, null, 'retryable', null],
    [409, null, 'retryable', null],
    [500, null, 'retryable', null],
    [529, null, 'retryable', null],
    [400, null, 'terminal', null],
    [401, null, 'terminal', null],
    [403, null, 'terminal', null],
    [404, null, 'terminal', null],
    [422, null, 'terminal', null],
    [302, null, 'terminal', null],
  ])('D35: status %i with Retry-After %j is %s', async (status, retryAfter, failure, retryAfterMs) => {
    const before = fake.requests.length;
    const error = await failureOf(ask({ status, text: 'no luck', headers: retryAfter === null ? {} : { 'retry-after': retryAfter } }));
    expect(error).toMatchObject({ failure, retryAfterMs, message: `the model provider answered ${status}: no luck` });
    expect(fake.requests.length, 'one attempt').toBe(before + 1);
  });

  it.each<[string, ScriptedReply]>([
    ['a page instead of JSON', { body: '<html>proxy</html>', headers: { 'content-type': 'text/html' } }],
    ['half a body', { body: '{"choices":[{"mess' }],
    ['no choices', { body: { choices: [] } }],
    ['another shape', { body: { choices: 'no' } }],
  ])('D35: an unreadable success (%s) is retryable and not quoted', async (_name, reply) => {
    const error = await failureOf(ask(reply));
    expect(error.failure).toBe('retryable');
    expect(error.message).not.toMatch(/html|mess"|choices/);
  });

  it('I5: a redirect is not followed, so that the key goes nowhere else', async () => {
    const other = await startFakeModel();
    const error = await failureOf(ask({ status: 307, text: 'moved', headers: { location: `${other.url}/chat/completions` } }));
    expect(error.failure).toBe('terminal');
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('D35: connection refused is retryable', async () => {
    const error = await failureOf(provider.generate(model({ baseUrl: await unusedUrl() }), request, new AbortController().signal));
    expect(error).toMatchObject({ failure: 'retryable', message: 'no connection to the model provider: ECONNREFUSED' });
  });

  it('D35: a model that does not answer in time is retryable', async () => {
    fake.script([{ hang: true }]);
    const error = await failureOf(provider.generate(model({ timeoutMs: 50 }), request, new AbortController().signal));
    expect(error).toMatchObject({ failure: 'retryable', message: 'model "default" did not answer within 50 ms' });
  });

  it('D27: an abort by the caller ends the call with the reason of the caller', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled by Ann');
    fake.script(() => {
      controller.abort(reason);
      return { hang: true };
    });
    await expect(provider.generate(model(), request, controller.signal)).rejects.toBe(reason);
  });

  it('D27: an aborted signal sends nothing', async () => {
    const before = fake.requests.length;
    await expect(provider.generate(model(), request, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
    expect(fake.requests.length).toBe(before);
  });

  it('I5: a missing secret is terminal and names its variable; a model without one sends no key', async () => {
    const error = await failureOf(provider.generate(model({ apiKeyEnv: 'NO_SUCH_KEY' }), request, new AbortController().signal));
    expect(error).toMatchObject({ failure: 'terminal', message: expect.stringContaining('NO_SUCH_KEY') });
    fake.script([{ text: 'ok' }]);
    await provider.generate(model({ apiKeyEnv: null }), request, new AbortController().signal);
    expect(fake.requests.at(-1)?.authorization).toBeNull();
  });

  it.each([400, 401, 429, 500])('I5: no key, prompt, URL query or flood from an echoing server gets into an error of status %i', async (status) => {
    const echo = `bad key ${KEY} for https://user:pw@host.example/v1?api_key=${KEY}&q=secret: ${JSON.stringify(PROMPT)} (… 1234 5678 9010) ${'x'.repeat(100_000)}`;
    const error = await failureOf(ask({ status, text: echo }));
    expect(error.message).toMatch(new RegExp(`answered ${status}: bad key \\[key\\] for https://host\\.example/v1`));
    for (const secret of [KEY, 'user:pw', 'q=secret', 'card number', '1234 5678']) expect(error.message).not.toContain(secret);
    expect(error.message.length).toBeLessThan(500);
  });

  it('I5: a hosted provider without the name of a key variable, and a compatible one without a URL, are terminal', async () => {
    const signal = new AbortController().signal;
    const hosted = await failureOf(provider.generate(model({ provider: 'anthropic', apiKeyEnv: null }), request, signal));
    expect(hosted).toMatchObject({ failure: 'terminal', message: expect.stringContaining('api_key_env') });
    const nowhere = await failureOf(provider.generate(model({ baseUrl: null }), request, signal));
    expect(nowhere).toMatchObject({ failure: 'terminal', message: expect.stringContaining('base_url') });
  });

  it('D8: a reply without end is cut off with a clear error', async () => {
    const error = await failureOf(ask({ body: 'x'.repeat(MAX_REPLY_BYTES + 1) }));
    expect(error).toMatchObject({ failure: 'terminal', message: `the model's reply is larger than ${MAX_REPLY_BYTES} bytes` });
  });

  it('I5: a key with a line break is refused without being shown', async () => {
    const broken = createProviders({ secrets: () => `${KEY}\n` });
    const error = await failureOf(broken.generate(model(), request, new AbortController().signal));
    expect(error.failure).toBe('terminal');
    expect(error.message).toContain('TEST_KEY');
    expect(error.message).not.toContain(KEY);
  });
});

async function unusedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/v1`;
}
