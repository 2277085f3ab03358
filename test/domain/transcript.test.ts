import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../contracts/message.js';
import { transcriptProblems } from '../../domain/transcript.js';

/** Valid transcripts: turns of a user text, steps of calls with their results in any order, and a closing text except in the last turn. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map((s) => `x${s.replaceAll('\0', '')}`);
const step = fc.record({ calls: fc.integer({ min: 1, max: 3 }), text: fc.oneof(fc.constant(''), text), reversed: fc.boolean() });
const turn = fc.record({ user: text, steps: fc.array(step, { maxLength: 3 }), closing: text });
const transcript = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => {
  const messages: Message[] = [];
  turns.forEach(({ user, steps, closing }, t) => {
    messages.push({ role: 'user', text: user });
    steps.forEach((step, s) => {
      const calls = Array.from({ length: step.calls }, (_, i) => ({ id: `c_${t}_${s}_${i}`, name: `tool${i}`, args: { at: user, nested: [{ s }] } }));
      const results = calls.map((call): Message => ({ role: 'tool', callId: call.id, name: call.name, text: 'ok' }));
      messages.push({ role: 'assistant', text: step.text, calls }, ...(step.reversed ? results.reverse() : results));
    });
    if (t < turns.length - 1) messages.push({ role: 'assistant', text: closing, calls: [] });
  });
  return messages;
});

/** Each breaks one thing at a message chosen by `pick`; null when the transcript has no place for it. */
const mutations: Record<string, (messages: Message[], pick: (fits: (message: Message) => boolean) => number) => Message[] | null> = {
  'a message less in the middle of a step': (m, pick) => without(m, pick((x) => x.role === 'tool')),
  'an assistant message with calls less': (m, pick) => without(m, pick((x) => x.role === 'assistant' && x.calls.length > 0)),
  'a user message less': (m, pick) => without(m, pick((x) => x.role === 'user')),
  'a user message twice': (m, pick) => twice(m, pick((x) => x.role === 'user')),
  'a result twice': (m, pick) => twice(m, pick((x) => x.role === 'tool')),
  'an assistant message twice': (m, pick) => twice(m, pick((x) => x.role === 'assistant')),
  'an answer at the end': (m) => [...m, { role: 'assistant', text: 'x', calls: [] }],
  'a user text between call and result': (m, pick) => insert(m, pick((x) => x.role === 'tool'), { role: 'user', text: 'wait' }),
  'a result of another call': (m, pick) => change(m, pick((x) => x.role === 'tool'), { callId: 'c_other' }),
  'a result of another tool': (m, pick) => change(m, pick((x) => x.role === 'tool'), { name: 'other' }),
  'a blank text': (m, pick) => change(m, pick((x) => x.role !== 'assistant' || x.calls.length === 0), { text: ' \n' }),
  'half a surrogate pair': (m, pick) => change(m, pick(() => true), { text: 'a\ud800' }),
  'NUL': (m, pick) => change(m, pick(() => true), { text: 'a\0' }),
  'a reused call id': (m) => (m.some((x) => x.role === 'assistant' && x.calls.length > 0) ? [...m, ...m] : null),
  'a call id with a dot': (m, pick) => renamed(m, pick((x) => x.role === 'tool'), 'c.1'),
  'a long call id': (m, pick) => renamed(m, pick((x) => x.role === 'tool'), 'c'.repeat(41)),
  'a bad tool name': (m, pick) => changeCall(m, pick((x) => x.role === 'assistant' && x.calls.length > 0), { name: 'two words' }),
  'arguments in a list': (m, pick) => changeCall(m, pick((x) => x.role === 'assistant' && x.calls.length > 0), { args: [] }),
  'NUL deep in arguments': (m, pick) => changeCall(m, pick((x) => x.role === 'assistant' && x.calls.length > 0), { args: { a: [{ b: '\0' }] } }),
  'half a pair in a key of arguments': (m, pick) => changeCall(m, pick((x) => x.role === 'assistant' && x.calls.length > 0), { args: { '\udc00': 1 } }),
};

const without = (m: Message[], at: number) => (at < 0 ? null : m.toSpliced(at, 1));
const twice = (m: Message[], at: number) => (at < 0 ? null : m.toSpliced(at, 0, m[at] as Message));
const insert = (m: Message[], at: number, message: Message) => (at < 0 ? null : m.toSpliced(at, 0, message));
const change = (m: Message[], at: number, fields: object) => (at < 0 ? null : m.with(at, { ...m[at], ...fields } as Message));

function changeCall(m: Message[], at: number, fields: object): Message[] | null {
  const message = m[at];
  if (message?.role !== 'assistant') return null;
  return m.with(at, { ...message, calls: message.calls.map((call, i) => (i === 0 ? { ...call, ...fields } as typeof call : call)) });
}

/** Gives a call and its result another id, so that only the id's form is wrong. */
function renamed(m: Message[], at: number, id: string): Message[] | null {
  const result = m[at];
  if (result?.role !== 'tool') return null;
  return m.map((message) => {
    if (message === result) return { ...result, callId: id };
    if (message.role !== 'assistant') return message;
    return { ...message, calls: message.calls.map((call) => (call.id === result.callId ? { ...call, id } : call)) };
  });
}

describe('the transcript check', () => {
  it('D6: finds nothing in valid transcripts', () => {
    fc.assert(fc.property(transcript, (messages) => {
      expect(transcriptProblems(messages)).toEqual([]);
    }));
  });

  it.each(Object.entries(mutations))('D6: catches %s', (_name, mutate) => {
    fc.assert(fc.property(transcript, fc.nat(), (messages, seed) => {
      const pick = (fits: (message: Message) => boolean): number => {
        const places = messages.flatMap((message, index) => (fits(message) ? [index] : []));
        return places.length === 0 ? -1 : (places[seed % places.length] ?? -1);
      };
      const broken = mutate(messages, pick);
      fc.pre(broken !== null);
      expect(transcriptProblems(broken ?? [])).not.toEqual([]);
    }));
  });

  it('D6: an empty transcript is a problem', () => {
    expect(transcriptProblems([])).toEqual(['the transcript is empty']);
  });

  it('D6: problems name the place and no content', () => {
    const problems = transcriptProblems([{ role: 'user', text: 'secret' }, { role: 'tool', callId: 'secret', name: 'secret', text: '' }]);
    expect(problems).toEqual(['message 2 (tool): its text is blank', 'message 2 (tool): answers no open call']);
  });

  it('D6: deep arguments do not exhaust the stack', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(5000)}"\\u0000"${']'.repeat(5000)}}`);
    const messages: Message[] = [
      { role: 'user', text: 'x' }, { role: 'assistant', text: '', calls: [{ id: 'c', name: 't', args: deep }] }, { role: 'tool', callId: 'c', name: 't', text: 'ok' },
    ];
    expect(transcriptProblems(messages)).toEqual(['message 2 (assistant): has arguments with NUL or half a surrogate pair']);
  });
});
