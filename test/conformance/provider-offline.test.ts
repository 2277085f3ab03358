import { describe, expect, it } from 'vitest';
import type { ModelDefinition, OfflineRule } from '../../contracts/model.js';
import { createProviders } from '../../providers/registry.js';

const noNetwork = createProviders({ secrets: () => undefined, fetch: () => Promise.reject(new Error('the offline model must not use the network')) });
const model = (rules: OfflineRule[]): ModelDefinition => ({ alias: 'demo', provider: 'offline', model: 'rules', baseUrl: null, apiKeyEnv: null, timeoutMs: 1000, maxOutputTokens: null, price: null, rules });
const rule: OfflineRule = { agent: null, user: 'for (?<people>\\d+)', after: null, result: null, reply: null, calls: [{ tool: 'reserve', args: { people: '{people:int}' } }] };
const ask = (rules: OfflineRule[], text: string, signal = new AbortController().signal) =>
  noNetwork.generate(model(rules), { agent: 'booking', system: '12345678', messages: [{ role: 'user', text }], tools: [] }, signal);

describe('the offline provider', () => {
  it('I6: calls leave as argument text and tokens are counted', async () => {
    expect(await ask([rule], 'for 4')).toEqual({
      text: '', calls: [{ providerCallId: 'call_1', name: 'reserve', argsText: '{"people":4}' }], finish: 'tool_calls', inputTokens: 4, outputTokens: 3,
    });
  });

  it('I6: without a rule it says so and what to do', async () => {
    expect(await ask([rule], 'hello')).toMatchObject({ finish: 'stop', calls: [], text: expect.stringContaining('models.demo.rules') });
  });

  it('D35: a bad pattern is terminal and named', async () => {
    await expect(ask([{ ...rule, user: '(' }], 'x')).rejects.toMatchObject({ name: 'CallError', failure: 'terminal', message: expect.stringContaining('"demo"') });
  });

  it('D27: an aborted signal ends the call with its reason', async () => {
    await expect(ask([rule], 'for 4', AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });
});
