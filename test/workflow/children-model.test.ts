import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { testToml } from '../support/toml.js';
import type { ScriptedReply } from '../../testing/index.js';

let model: FakeModel;
let engine: Engine;

const ask = (name: string, text: string) => ({ name, args: { text } });
const turnOf = (child: string, text: string) => [{ calls: [ask(child, text)] }, { text: 'The end.' }];

/** What a child may answer and what its parent is told of it. */
const ANSWERS: [string, ScriptedReply, string][] = [
  ['answers', { text: 'Two tables are free.' }, 'Two tables are free.'],
  ['refuses', { refusal: 'I cannot help with that.' }, 'The child refused.'],
  ['is filtered', { text: 'half', finish: 'content_filter' }, 'The child refused.'],
  ['is blank', { text: ' \n' }, 'The reply of the child was empty.'],
  ['is cut off', { text: 'The first half of', finish: 'length' }, 'The reply of the child was cut off.'],
  ['is not allowed', { status: 403, text: 'no' }, 'the model provider answered 403'],
];

beforeAll(async () => {
  model = await startFakeModel();
  const child = (name: string, more = '') => `[agents.${name}]\ninstructions = "You are the child ${name}."\n${more}\n`;
  const parent = (name: string, children: string[], more = '') =>
    `[agents.${name}]\ninstructions = "You are ${name}."\nchildren = ${JSON.stringify(children)}\n${more}\n`;
  engine = await startEngine(testToml({
    modelUrl: model.url, main: 'children = ["plain", "context", "down"]\ncontext_turns = 2',
    more: [
      child('plain'), child('context', 'input = "conversation"'), child('down', 'model = "down"'),
      parent('both', ['context'], 'context_turns = 2\ncontext_roles = ["user", "assistant"]'),
      '[models.down]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "none"\n',
    ].join('\n'),
  }));
  model.script(plays({
    ...Object.fromEntries(ANSWERS.flatMap(([name, reply], n) => [[`parent${n}`, turnOf('plain', `child${n} ${name}`)], [`child${n}`, [reply]]])),
    resolve: turnOf('context', 'Book that one'),
    narrow: turnOf('plain', 'Book that one, narrowly'),
    down: turnOf('down', 'Are you there?'),
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

describe('a child of kind model', () => {
  it.concurrent.each(ANSWERS.map(([name, , told], n) => [name, told, n] as const))('D32, D7: the child %s → the parent is told `%s` and goes on', async (_, told, n) => {
    expect(await engine.send(`parent${n} go`)).toMatchObject({ status: 'completed', text: 'The end.', effects: [] });
    const results = said(model.requests.filter(({ body }) => body.messages.some((message) => String(message.content).startsWith(`parent${n} `))).at(-1), 'tool');
    expect(results).toEqual([n === 0 ? told : expect.stringContaining(told)]);
    if (n > 0) expect(JSON.parse(results[0]!)).toMatchObject({ status: 'failed' });
    const asked = model.requests.filter(({ body }) => body.messages.some((message) => String(message.content).startsWith(`child${n} `)));
    expect(asked).toHaveLength(1);
    expect(asked[0]!.body.messages.map(({ role, content }) => [role, content])).toEqual([['system', 'You are the child plain.'], ['user', `child${n} ${ANSWERS[n]![0]}`]]);
    expect(asked[0]!.body.tools).toBeUndefined();
  });

  it.concurrent('D32, D35: the provider of the child is down → bounded tries, then the parent is told and goes on', async () => {
    const turn = await engine.send('down go');
    expect(turn).toMatchObject({ status: 'completed', text: 'The end.' });
    const [result] = said(requestAbout(model.requests, 'down go'), 'tool');
    expect(JSON.parse(result!)).toMatchObject({ status: 'failed', message: expect.stringContaining('no connection to the model provider') });
    const { rows } = await engine.pool.query(`select p.outcome from holdfast.physical_call p join holdfast.ledger_entry e using (key) where e.turn_id = $1 and e.kind = 'child'`, [turn.turnId]);
    expect(rows).toEqual(Array.from({ length: 5 }, () => ({ outcome: 'rejected' })));
  });

  it.concurrent.each([
    ['user texts only by default', 'main', ['first', 'second'], ['The user wants', 'secret']],
    ['assistant texts where `context_roles` allows them', 'both', ['first', 'second', 'ok'], []],
  ] as const)('W1, W2: a child with `input = "conversation"` → the last `context_turns` turns, %s', async (_, agent, present, absent) => {
    const thread = uniqueName('thread');
    for (const text of ['zero', 'first', 'second']) await engine.send(`${text} of ${thread}`, { thread, agent });
    await engine.send('resolve it', { thread, agent });
    const request = model.requests.find(({ body }) => body.messages.some(({ role, content }) => role === 'user' && String(content).includes('[earlier conversation]') && String(content).includes(thread)));
    const [text] = said(request, 'user');
    const lines = JSON.parse(text!.split('\n')[1]!) as { role: string; text: string }[];
    expect(lines.map((line) => line.text.split(' ')[0])).toEqual(agent === 'main' ? present : ['first', 'ok', 'second', 'ok']);
    expect(text).toMatch(/\[current request\]\nBook that one$/);
    for (const word of absent) expect(text).not.toContain(word);
  });

  it.concurrent('W2: a child with `input = "context"` → the request alone, although the thread has earlier turns', async () => {
    const thread = uniqueName('thread');
    await engine.send('secret words', { thread });
    await engine.send('narrow it', { thread });
    expect(said(requestAbout(model.requests, 'Book that one, narrowly'), 'user')).toEqual(['Book that one, narrowly']);
  });

  it('D6: all of this → the model never got a transcript that a strict provider refuses', () => {
    expect(model.violations).toEqual([]);
  });
});
