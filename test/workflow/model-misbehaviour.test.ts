import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../testing/index.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { said } from '../support/plays.js';
import { sequences, type Sequence } from '../support/sequences.js';
import { lastUser, messagesOf, problemsOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';

const GOOD = { date: '2026-12-24', people: 2 };
const reserve = (argsText: string): ScriptedReply => ({ calls: [{ name: 'reserve', argsText }] });
const good: ScriptedReply = { calls: [{ name: 'reserve', args: GOOD }] };

interface Kind {
  reason: string;
  /** Model calls of a turn whose model never does better: the corrections and the first one. */
  calls: number;
  /** What the model is told before it is asked again. */
  note: string;
  replies: Record<string, ScriptedReply>;
}

/** Ways in which a reply cannot be used, by what becomes of the turn (D7). Nothing of any of them may run or be stored as said. */
const KINDS: Kind[] = [
  {
    reason: 'model_calls_invalid', calls: 3, note: 'None of the tool calls',
    replies: {
      'an open array': reserve('{"items":[1,2]'), 'an open object': reserve('{"path":"x"'), 'good arguments, cut off': reserve(JSON.stringify(GOOD).slice(0, -1)),
      'empty arguments': reserve(''), 'an array': reserve('[]'), 'a string': reserve('"str"'), 'null': reserve('null'), 'a number': reserve('1'),
      'two values': reserve(`${JSON.stringify(GOOD)}{}`), 'a fence around it': reserve(`\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\``),
      'a key given twice': reserve('{"date":"2026-12-24","people":2,"people":9}'), 'a comma too many': reserve('{"date":"2026-12-24","people":2,}'),
      'an integer beyond 2^53': reserve('{"date":"2026-12-24","people":9007199254740993}'), '`__proto__`': reserve('{"date":"2026-12-24","people":2,"__proto__":{"name":"x"}}'),
      'NUL in a value': reserve('{"date":"2026-12-24\\u0000","people":2}'), 'half a surrogate pair in a key': reserve('{"date":"2026-12-24","people":2,"\\ud83d":1}'),
      'an open object and `stop`': { ...reserve('{"path":"x"'), finish: 'stop' },
      'a value of another type': reserve('{"date":"2026-12-24","people":"two"}'), 'a field missing': reserve('{"date":"2026-12-24"}'),
      'a field too many': reserve('{"date":"2026-12-24","people":2,"amount":1}'), 'a fraction for an integer': reserve('{"date":"2026-12-24","people":2.5}'),
      'an unknown tool': { calls: [{ name: 'pay', args: GOOD }] }, 'a tool name no provider takes': { calls: [{ name: 're serve\0 ✂ \ud83d', args: GOOD }] },
      'an empty tool name': { calls: [{ name: '', args: GOOD }] }, 'a tool of another case': { calls: [{ name: 'Reserve', args: GOOD }] },
    },
  },
  {
    reason: 'model_reply_cut_off', calls: 3, note: 'cut off',
    replies: {
      'a text': { text: 'The first half of', finish: 'length' }, 'no text': { finish: 'length' }, 'half a call': { ...reserve('{"date":"2026-1'), finish: 'length' },
      'a whole call': { ...good, finish: 'length' }, 'a text and a whole call': { ...good, text: 'I will', finish: 'length' },
    },
  },
  {
    reason: 'model_refused', calls: 2, note: 'was a refusal',
    replies: {
      'a refusal': { refusal: 'I cannot help with that.' }, 'a refusal and a text': { text: 'No.', refusal: 'I cannot.' }, 'a refusal and `length`': { refusal: 'I can', finish: 'length' },
      'content_filter': { finish: 'content_filter' }, 'content_filter and half a text': { text: 'Half of', finish: 'content_filter' },
      'content_filter and a call': { ...good, finish: 'content_filter' }, 'a refusal and a call': { ...good, refusal: 'I cannot.' },
    },
  },
  {
    reason: 'model_reply_blank', calls: 3, note: 'was empty',
    replies: { 'no content': {}, 'an empty text': { text: '' }, 'blanks': { text: ' \n\t' }, 'a blank that is not ASCII': { text: '\u00a0\u3000' }, 'no reason to stop': { finish: null } },
  },
];

const ROWS = KINDS.flatMap(({ replies, ...kind }) => Object.entries(replies).map(([what, reply]) => ({ ...kind, what, reply })))
  .map((row, n) => ({ ...row, always: `always${n}`, first: `first${n}` }));

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  booking = await startBooking();
  engine = await startEngine(testToml({
    modelUrl: model.url, bookingUrl: booking.url,
    more: '[agents.short]\ninstructions = "You are short."\neffects = ["reserve"]\nmax_steps = 2\n',
  }));
  const half: Sequence = [{ calls: [{ name: 'reserve', args: GOOD }, { name: 'reserve', argsText: '{"date":' }] }, { text: 'One of two.' }];
  model.script(sequences({
    ...Object.fromEntries(ROWS.flatMap(({ always, first, reply }): [string, Sequence][] => [[always, reply], [first, [reply, { text: 'Better.' }]]])),
    half, relapse: [{ text: '' }, good, { text: '' }, { text: '' }, { text: 'At last.' }],
    mixed: [{ text: '' }, reserve('[]'), { text: 'Half', finish: 'length' }, { text: 'never asked for' }],
    endless: good, blanks: { text: '' },
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await booking?.stop();
  await model?.close();
});

const asked = (text: string) => model.requests.filter(({ body }) => lastUser(body) === text);
const postsOf = async (turnId: string) => Object.keys(await booking.posts()).filter((key) => key.startsWith(`${turnId}.`)).length;

describe('a reply that cannot be used', () => {
  it.concurrent.each(ROWS)('D7, case 33, case 34: $what ($reason), again and again → bounded corrections, nothing run, the turn fails by name, the thread goes on', async ({ always, reason, calls, note }) => {
    const thread = uniqueName('bad');
    const turn = await engine.send(`${always} go`, { thread });
    expect(turn).toMatchObject({ status: 'failed', reason, effects: [], usage: { modelCalls: calls, effects: 0 }, text: `The request could not be completed (${reason}). Nothing was changed outside.` });
    expect(asked(`${always} go`).map((request) => said(request, 'system')[0]!.includes(note))).toEqual(Array.from({ length: calls }, (_, n) => n > 0));
    expect(await postsOf(turn.turnId)).toBe(0);
    expect(await engine.send('and now?', { thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each(ROWS)('D7: $what ($reason), once → one correction, and the turn completes with what came then', async ({ first, reason }) => {
    const thread = uniqueName('better');
    const turn = await engine.send(`${first} go`, { thread });
    expect(turn).toMatchObject({ status: 'completed', reason: null, text: 'Better.', effects: [], usage: { modelCalls: 2, effects: 0 } });
    expect(await postsOf(turn.turnId)).toBe(0);
    // A reply whose calls were refused is in the transcript with their results; any other leaves nothing behind.
    const roles = (await messagesOf(engine, thread)).map(({ body }) => body.role);
    expect(roles).toEqual(reason === 'model_calls_invalid' ? ['user', 'assistant', 'tool', 'assistant'] : ['user', 'assistant']);
    expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D6, D7: one call of two is malformed → the other runs, each has its one result, and the model is told which', async () => {
    const turn = await engine.send('half go');
    expect(turn).toMatchObject({ status: 'completed', text: 'One of two.', effects: [{ state: 'succeeded' }] });
    expect(await postsOf(turn.turnId)).toBe(1);
    const results = said(asked('half go').at(-1), 'tool').map((text) => JSON.parse(text) as { status: string; message?: string });
    expect(results).toEqual([expect.objectContaining({ status: 'confirmed' }), { status: 'invalid', message: expect.stringContaining('not valid JSON') }]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D7: a good reply between bad ones → the bound counts bad replies in a row', async () => {
    expect(await engine.send('relapse go')).toMatchObject({ status: 'completed', text: 'At last.', usage: { modelCalls: 5, effects: 1 } });
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D7: three bad replies of different kinds in a row → the turn fails by the name of the last', async () => {
    expect(await engine.send('mixed go')).toMatchObject({ status: 'failed', reason: 'model_reply_cut_off', usage: { modelCalls: 3 }, effects: [] });
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each([['calls', 'endless', 2], ['replies that cannot be used', 'blanks', 0]] as const)('D6, D24, D28: only %s until `max_steps` → failed by that name, and the response tells what was done', async (_, play, effects) => {
    const thread = uniqueName('steps');
    const turn = await engine.send(`${play} go`, { thread, agent: 'short' });
    expect(turn).toMatchObject({ status: 'failed', reason: 'max_steps', usage: { modelCalls: 2, effects } });
    expect(turn.effects.map(({ state }) => state)).toEqual(Array.from({ length: effects }, () => 'succeeded'));
    for (const { externalId } of turn.effects) expect(turn.text).toContain(`reserve (${externalId})`);
    expect(await engine.send('and now?', { thread, agent: 'short' })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(model.violations).toEqual([]);
  });
});
