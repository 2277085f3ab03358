import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../contracts/definition.js';
import type { EffectDefinition } from '../../contracts/effect.js';
import type { FinishReason, ModelReply } from '../../contracts/model.js';
import type { StoredReply } from '../../contracts/reply.js';
import { schemaCheck } from '../../activities/schema.js';
import { MAX_CALLS, judgeReply } from '../../domain/judge-reply.js';

const SCHEMA = { type: 'object', required: ['path'], additionalProperties: false, properties: { path: { type: 'string' }, n: { type: 'integer' } } };
const definition = {
  name: 'main', askUser: true, children: [{ name: 'helper' }], compensations: [], effects: [{ name: 'edit', inputSchema: SCHEMA } as unknown as EffectDefinition],
} as unknown as AgentDefinition;
const TURN = `t${'a'.repeat(30)}`;

const replyOf = (change: Partial<ModelReply>): ModelReply => ({ text: '', calls: [], finish: 'stop', inputTokens: 1, outputTokens: 1, ...change });
const judge = (change: Partial<ModelReply>): StoredReply => judgeReply(TURN, 1, replyOf(change), definition, schemaCheck(definition));
const callsOf = (calls: [string, string][], finish: FinishReason = 'tool_calls') => {
  const judged = judge({ finish, calls: calls.map(([name, argsText]) => ({ providerCallId: 'call_1', name, argsText })) });
  if (judged.use !== 'calls') throw new Error(`not used as calls: ${judged.use}`);
  return judged.calls;
};

describe('judging a reply', () => {
  const half = { providerCallId: 'c', name: 'edit', argsText: '{"path":"x"' };
  const whole = { providerCallId: 'c', name: 'edit', argsText: '{"path":"x"}' };
  it.each<[string, Partial<ModelReply>, object]>([
    ['a text', { text: 'Hello' }, { use: 'final', text: 'Hello' }],
    ['a text with an unknown finish reason', { text: 'Hello', finish: 'other' }, { use: 'final', text: 'Hello' }],
    ['nothing', {}, { use: 'unusable', problem: 'blank' }],
    ['white space', { text: ' \n\t\u3000' }, { use: 'unusable', problem: 'blank' }],
    ['tool_calls without calls', { finish: 'tool_calls' }, { use: 'unusable', problem: 'blank' }],
    ['half a text', { text: 'The answer is', finish: 'length' }, { use: 'unusable', problem: 'cut_off' }],
    ['half a call', { calls: [half], finish: 'length' }, { use: 'unusable', problem: 'cut_off' }],
    ['a whole call in a cut-off reply', { calls: [whole], finish: 'length' }, { use: 'unusable', problem: 'cut_off' }],
    ['a refusal', { text: 'I cannot.', finish: 'refused' }, { use: 'unusable', problem: 'refused', detail: 'I cannot.' }],
    ['a refusal without text', { finish: 'refused' }, { use: 'unusable', problem: 'refused', detail: '' }],
    ['a refusal with a call', { calls: [whole], finish: 'refused' }, { use: 'unusable', problem: 'refused' }],
    ['a call beside blank text', { text: '\n', calls: [whole], finish: 'tool_calls' }, { use: 'calls', calls: [{ problem: null, args: { path: 'x' } }] }],
    ['a call although it says stop', { calls: [whole] }, { use: 'calls', calls: [{ problem: null }] }],
  ])('D7, case 33, case 34, case 38: %s', (_name, change, expected) => {
    expect(judge(change)).toMatchObject(expected);
  });

  it.each<[string, string, string, RegExp]>([
    ['cut-off arguments', 'edit', '{"path":"x"', /not valid JSON.*Received: \{"path":"x"/],
    ['a cut-off list', 'edit', '{"items":[1,2]', /not valid JSON/],
    ['empty arguments', 'edit', '', /empty/],
    ['a list', 'edit', '[]', /not a JSON object/],
    ['a text', 'edit', '"str"', /not a JSON object/],
    ['a key twice', 'edit', '{"path":"a","path":"b"}', /given twice/],
    ['a missing field', 'edit', '{}', /must have required property 'path'/],
    ['a wrong type', 'edit', '{"path":5}', /path must be string/],
    ['a number as text', 'edit', '{"path":"x","n":"5"}', /n must be integer/],
    ['a field too many', 'edit', '{"path":"x","rm":true}', /additional properties/],
    ['an integer beyond 2^53', 'edit', '{"path":"x","n":9007199254740993}', /beyond 2\^53/],
    ['a child without a request', 'helper', '{"text":""}', /fewer than 1 characters/],
    ['a question without text', 'ask_user', '{}', /question/],
    ['an unknown tool', 'rm', '{}', /there is no tool "rm"; there are: helper, edit, ask_user/],
    ['a tool of another case', 'Edit', '{"path":"x"}', /there is no tool "Edit"/],
    ['an inherited name', 'toString', '{}', /there is no tool "toString"/],
    ['NUL in a key', 'edit', '{"pa\\u0000th":1}', /holds a NUL character/],
    ['half an emoji', 'edit', '{"path":"\\ud83d"}', /half of a surrogate pair/],
  ])('D7, case 33: a call with %s does not run and says why', (_name, name, argsText, problem) => {
    const [call] = callsOf([[name, argsText]]);
    expect(call?.problem).toMatch(problem);
  });

  it.each(['', ' ', 'two words', 'a.b', '../etc', 'tool\0', '\ud83d', '한글', 'x'.repeat(300), '"; drop table turn; --', '__proto__'])('D7: the tool name %j is shown in a form that every provider accepts', (name) => {
    const [call] = callsOf([[name, '{}']]);
    expect(call?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(call?.problem).toMatch(/there is no tool/);
  });

  it('D7: one bad call does not stop the others, and each keeps its place', () => {
    const calls = callsOf([['edit', '{"path":"a"}'], ['edit', '{'], ['nope', '{}'], ['edit', '{"path":"b"}']]);
    expect(calls.map(({ index, problem }) => [index, problem === null])).toEqual([[0, true], [1, false], [2, false], [3, true]]);
  });

  it('D11, case 05: provider ids that are reused, and equal calls, become calls of their own', () => {
    const calls = callsOf([['edit', '{"path":"a"}'], ['edit', '{"path":"a"}']]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('D35: more calls than one reply may make do not run', () => {
    const calls = callsOf(Array.from({ length: MAX_CALLS + 2 }, () => ['edit', '{"path":"a"}'] as [string, string]));
    expect(calls.filter(({ problem }) => problem === null)).toHaveLength(MAX_CALLS);
    expect(calls.at(-1)?.problem).toMatch(/at most 32 calls/);
  });

  it('case 37: whatever a model writes, what is stored is well-formed and holds no NUL', () => {
    const evil = fc.array(fc.constantFrom('\0', '\ud83d', '\ude00', '\u{1f600}', 'x'.repeat(250), '{', '"', ':', '\\u0000', '\\ud83d', 'a', '}'), { maxLength: 8 }).map((parts) => parts.join(''));
    const finish = fc.constantFrom<FinishReason>('stop', 'tool_calls', 'length', 'refused', 'other');
    fc.assert(fc.property(evil, evil, evil, finish, (text, name, argsText, how) => {
      for (const args of [argsText, `{"${argsText}":1}`, `{"path":"${argsText}"}`]) {
        const stored = judge({ text, finish: how, calls: how === 'stop' ? [] : [{ providerCallId: '', name, argsText: args }, { providerCallId: '', name: 'edit', argsText: args }] });
        expect(JSON.stringify(stored).replaceAll('\\\\', '')).not.toMatch(/\\u0000|\\ud[89a-f]/);
      }
    }), { numRuns: 500 });
  });
});
