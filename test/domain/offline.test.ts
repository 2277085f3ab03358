import { describe, expect, it } from 'vitest';
import type { Message } from '../../contracts/message.js';
import type { OfflineRule } from '../../contracts/model.js';
import { answerOffline } from '../../domain/offline.js';

const rule = (changes: Partial<OfflineRule>): OfflineRule => ({ agent: null, user: null, after: null, result: null, reply: null, calls: [], ...changes });
const user = (text: string): Message => ({ role: 'user', text });
const result = (name: string, text: string): Message[] => [{ role: 'assistant', text: '', calls: [{ id: 'c', name, args: {} }] }, { role: 'tool', callId: 'c', name, text }];
const say = (rules: OfflineRule[], messages: Message[], agent = 'booking') => answerOffline(rules, { agent, messages });
const text = (rules: OfflineRule[], messages: Message[], agent?: string) => say(rules, messages, agent)?.text ?? null;

describe('which rule of the offline model answers', () => {
  const rules = [
    rule({ agent: 'verification', reply: 'child' }),
    rule({ user: 'table', reply: 'asked' }),
    rule({ after: 'reserve', result: '"ok":\\s*false', reply: 'failed' }),
    rule({ after: 'reserve', reply: 'reserved' }),
    rule({ user: '^예약', reply: 'korean' }),
  ];

  it.each<[string, Message[], string | undefined, string | null]>([
    ['the first that matches', [user('a table, 예약')], undefined, 'asked'],
    ['the one of the calling agent', [user('a table')], 'verification', 'child'],
    ['one by Unicode text', [user('예약해 주세요')], undefined, 'korean'],
    ['one after a result', [user('a table'), ...result('reserve', '{"ok": true}')], undefined, 'reserved'],
    ['one after a result with a text', [user('a table'), ...result('reserve', '{"ok": false}')], undefined, 'failed'],
    ['none after a result of another tool', [user('a table'), ...result('mail', 'ok')], undefined, null],
    ['none of an earlier turn', [user('a'), ...result('reserve', 'ok'), { role: 'assistant', text: 'x', calls: [] }, user('b')], undefined, null],
    ['the newest user text counts', [user('a table'), { role: 'assistant', text: 'x', calls: [] }, user('bye')], undefined, null],
    ['case counts', [user('A TABLE')], undefined, null],
    ['an empty conversation matches nothing that needs a text', [], undefined, null],
  ])('I6: %s', (_name, messages, agent, expected) => {
    expect(text(rules, messages, agent)).toBe(expected);
  });

  it('I6: after parallel calls the last result counts', () => {
    const messages = [user('a'), ...result('mail', 'one'), ...result('reserve', 'two')];
    expect(text([rule({ after: 'mail', reply: 'wrong' }), rule({ after: 'reserve', reply: '{result}' })], messages)).toBe('two');
  });

  it('I6: only the first 10,000 characters are looked at', () => {
    expect(text([rule({ user: 'end', reply: 'found' })], [user(`${'x'.repeat(10_000)}end`)])).toBeNull();
    expect(text([rule({ user: 'end', reply: 'found' })], [user(`${'x'.repeat(9_997)}end`)])).toBe('found');
  });

  it('I6: a pattern that is no regular expression is named', () => {
    expect(() => say([rule({ user: '(' })], [user('a')])).toThrow(SyntaxError);
  });
});

describe('what the offline model says', () => {
  const pattern = 'for (?<people>\\d+)(?: at (?<time>\\S+))?';
  const args = (given: OfflineRule['calls'][number]['args'], asked: string, last: Message[] = []) =>
    say([rule({ user: pattern, after: last.length > 0 ? 'check' : null, calls: [{ tool: 'reserve', args: given }] })], [user(asked), ...last])?.calls[0]?.args;

  it.each<[string, object, object]>([
    ['a group as text', { p: '{people}' }, { p: '4' }],
    ['a whole integer', { p: '{people:int}' }, { p: 4 }],
    ['an integer within a text stays as written', { p: 'for {people:int}' }, { p: 'for {people:int}' }],
    ['text around', { p: '{people} at {time}!' }, { p: '4 at 19:00!' }],
    ['nested values', { a: [{ p: '{people:int}' }, 7, null, true] }, { a: [{ p: 4 }, 7, null, true] }],
    ['a text that is not an integer', { p: '{time:int}' }, { p: '19:00' }],
    ['an unknown name stays as written', { p: '{other} {}', q: '{other:int}' }, { p: '{other} {}', q: '{other:int}' }],
    ['keys stay as written', { '{people}': 1 }, { '{people}': 1 }],
  ])('I6: %s', (_name, given, expected) => {
    expect(args(given as never, 'for 4 at 19:00')).toEqual(expected);
  });

  it('I6: a group that took no part is empty, an integer beyond 2^53 stays text', () => {
    expect(args({ t: '{time}', p: '{people:int}' }, 'for 12345678901234567890')).toEqual({ t: '', p: '12345678901234567890' });
  });

  it.each<[string, string, string]>([
    ['{result}', 'plain', 'plain'],
    ['{result.id}', '{"id":"R-1"}', 'R-1'],
    ['{result.id}', '{"id":12345678901234567890}', '12345678901234567890'],
    ['{result.a.b}', '{"a":{"b":true}}', 'true'],
    ['{result.a}', '{"a":{"b":1.0}}', '{"b":1.0}'],
    ['[{result.no}]', '{"id":1}', '[]'],
    ['[{result.id}]', 'not json', '[]'],
    ['[{result.constructor}{result.__proto__}]', '{}', '[]'],
    ['{result.id}', '{"id":"{result}"}', '{result}'],
    ['{result.id}', '{"id":"$& $1"}', '$& $1'],
  ])('I6: %s of %s is %s', (reply, last, expected) => {
    expect(text([rule({ after: 'check', reply })], [user('a'), ...result('check', last)])).toBe(expected);
  });

  it('I6: a field of the result as an integer', () => {
    expect(args({ n: '{result.n:int}' }, 'for 4', result('check', '{"n":3}'))).toEqual({ n: 3 });
  });

  it('I6: the text of a sender is not searched for placeholders', () => {
    expect(text([rule({ user: '(?<all>.*)', reply: '{all}' })], [user('{result} {all}')])).toBe('{result} {all}');
  });

  it('I6: a rule may both speak and call', () => {
    expect(say([rule({ reply: 'wait', calls: [{ tool: 'a', args: {} }, { tool: 'b', args: {} }] })], [user('x')])).toEqual({
      text: 'wait', calls: [{ tool: 'a', args: {} }, { tool: 'b', args: {} }],
    });
  });
});
