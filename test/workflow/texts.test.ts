import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../testing/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { said } from '../support/plays.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { lastUser, messagesOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';

const FAMILY = '👨‍👩‍👧';
/** Longest result in a prompt, see domain/assemble.ts. */
const LIMIT = 32_000;

/** Texts that a model or a person writes, and what is kept of them (cases 37, 38). */
const WRITTEN: Record<string, { text: string; kept: string }> = {
  'NUL': { text: 'a\u0000b', kept: 'a\uFFFDb' },
  'half a pair at the end': { text: 'a\ud83d', kept: 'a\uFFFD' },
  'half a pair in front': { text: '\ude00a', kept: '\uFFFDa' },
  'the literal text \\u0000 and \\ud83d': { text: 'a\\u0000b \\ud83d', kept: 'a\\u0000b \\ud83d' },
  'a family': { text: FAMILY, kept: FAMILY },
  'blanks around it': { text: ' \n a \n', kept: ' \n a \n' },
};

/** What a target answers to a call, and the result that the model is told. `status` is that of the answer. */
const ANSWERED: Record<string, { body: string; told: string; status?: number; id?: string | null }> = {
  'NUL in a value': { body: '{"id":"R","note":"a\\u0000b"}', told: '{"id":"R","note":"a\uFFFDb"}' },
  'half a pair in a value': { body: '{"id":"R","note":"a\\ud83d"}', told: '{"id":"R","note":"a\uFFFD"}' },
  'NUL and half a pair in keys': { body: '{"id":"R","a\\u0000":1,"b\\ud83d":2}', told: '{"id":"R","a\uFFFD":1,"b\uFFFD":2}' },
  'the literal text \\u0000': { body: '{"id":"R","note":"a\\\\u0000b"}', told: '{"id":"R","note":"a\\\\u0000b"}' },
  'a family': { body: `{"id":"R","note":"${FAMILY}"}`, told: `{"id":"R","note":"${FAMILY}"}` },
};

/** Answers of a target that gives no ids, and says nothing. */
const EMPTY: Record<string, string> = { 'no body': '', 'a blank body': ' \n', 'an empty text': '""', 'a blank text': '" \\n"', 'an empty object': '{}', 'null': 'null' };

let model: FakeModel;
let target: RawTarget;
let engine: Engine;

const written = Object.entries(WRITTEN).map(([what, row], n) => ({ what, ...row, play: `write${n}` }));
const answered = Object.entries(ANSWERED).map(([what, row], n) => ({ what, ...row, play: `answer${n}` }));
const empty = Object.entries(EMPTY).map(([what, body], n) => ({ what, body, play: `empty${n}` }));
const bodies = new Map([...answered, ...empty].map(({ play, body }) => [play, body]));
const around = { body: JSON.stringify({ id: 'R', note: `${'x'.repeat(LIMIT - '{"id":"R","note":"'.length - 1)}${FAMILY}` }) };
bodies.set('limit', around.body).set('rejected', '{"error":"a\\u0000b \\ud83d"}').set('badid', '{"id":"R\\u0000"}');

/** The model calls `speak` for plays that a target answers, once and with a blank text beside the call, and else writes what the play says. */
function script(request: Parameters<typeof lastUser>[0]): ScriptedReply {
  const name = lastUser(request).split(' ')[0]!;
  const text = written.find(({ play }) => play === name)?.text;
  if (text !== undefined) return { text };
  if (request.messages.at(-1)?.role === 'tool' || !bodies.has(name)) return { text: 'ok' };
  return { text: '\n', calls: [{ name: name.startsWith('empty') ? 'whisper' : 'speak', args: { play: name } }] };
}

beforeAll(async () => {
  model = await startFakeModel();
  target = await startRawTarget();
  target.answer = (response, request) => {
    const { play } = JSON.parse(request.body) as { play: string };
    reply(play === 'rejected' ? 422 : 201, bodies.get(play))(response, request);
  };
  engine = await startEngine(testToml({
    modelUrl: model.url,
    more: `
[agents.desk]
instructions = "You are the desk."
effects = ["speak", "whisper"]
${['speak', 'whisper'].map((name) => `
[effects.${name}]
type = "http"
input_schema = { type = "object", required = ["play"], properties = { play = { type = "string" } } }
url = "${target.url}/${name}"
timeout = "5s"
${name === 'speak' ? 'result_id = "id"' : ''}`).join('\n')}
`,
  }));
  model.script(script);
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await target?.stop();
  await model?.close();
});

const requestsAbout = (play: string) => model.requests.filter(({ body }) => lastUser(body).startsWith(`${play} `));
const sent = (play: string) => target.received.filter(({ body }) => body.includes(`"${play}"`));

/** A turn that makes the target answer once, and the result that the model was told. */
async function speak(play: string) {
  const thread = uniqueName('speak');
  const turn = await engine.send(`${play} go`, { thread, agent: 'desk' });
  const [told] = said(requestsAbout(play)[1], 'tool');
  return { thread, turn, told: told! };
}

describe('a text that cannot be kept as it is', () => {
  it.concurrent.each(written)('case 37: the model writes $what → stored and shown, and the next turn goes on', async ({ play, kept }) => {
    const thread = uniqueName('write');
    expect(await engine.send(`${play} go`, { thread })).toMatchObject({ status: 'completed', text: kept });
    expect(await engine.send('next', { thread })).toMatchObject({ status: 'completed', text: 'ok' });
    const request = model.requests.find(({ body }) => lastUser(body) === 'next' && body.messages.some(({ content }) => content === `${play} go`));
    expect(said(request, 'assistant')).toEqual([kept]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each(written)('case 37: a person writes $what → the model reads what was kept, and so does every later turn', async ({ text, kept }) => {
    const thread = uniqueName('person');
    const input = `${thread} ${text}`;
    expect(await engine.send(input, { thread, requestId: 'one' })).toMatchObject({ status: 'completed' });
    expect(await engine.send(input, { thread, requestId: 'one' })).toMatchObject({ status: 'completed', requestId: 'one' });
    expect(requestsAbout(thread).map(({ body }) => lastUser(body))).toEqual([`${thread} ${kept}`]);
    expect(await engine.send('next', { thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each(['', ' ', '  \n', '\u3000'])('case 38: a person writes only %j → accepted, and later turns work', async (text) => {
    const thread = uniqueName('blank');
    expect(await engine.send(text, { thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(await engine.send('next', { thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect((await messagesOf(engine, thread)).map(({ body }) => body.text)).toEqual(['(no text)', 'ok', 'next', 'ok']);
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each(answered)('case 37, case 38: a target answers with $what → one effect, told to the model, and later turns work', async ({ play, told: expected }) => {
    const { thread, turn, told } = await speak(play);
    expect(turn).toMatchObject({ status: 'completed', text: 'ok', effects: [{ state: 'succeeded', externalId: 'R' }] });
    expect(JSON.parse(told)).toEqual(JSON.parse(expected));
    expect(sent(play)).toHaveLength(1);
    expect(await engine.send('next', { thread, agent: 'desk' })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(model.violations).toEqual([]);
  });

  it.concurrent.each(empty)('case 38: a target answers with $what, which says nothing → one effect, told as something, and later turns work', async ({ play }) => {
    const { thread, turn, told } = await speak(play);
    expect(turn).toMatchObject({ status: 'completed', text: 'ok', effects: [{ state: 'succeeded', externalId: null }] });
    expect(told.trim()).not.toBe('');
    expect(sent(play)).toHaveLength(1);
    expect(await engine.send('next', { thread, agent: 'desk' })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(model.violations).toEqual([]);
  });

  it.concurrent('case 37: a target rejects with such a text → failed, told well-formed', async () => {
    const { turn, told } = await speak('rejected');
    expect(turn).toMatchObject({ status: 'completed', effects: [{ state: 'failed' }] });
    expect(JSON.parse(told)).toMatchObject({ status: 'failed' });
    expect([told.isWellFormed(), told.includes('\0'), JSON.parse(told).message.includes('\0')]).toEqual([true, false, false]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('case 37, D13: a target answers with an id that holds NUL → no id is made up; a person decides', async () => {
    const { turnId } = await engine.client.submit({ agent: 'desk', text: 'badid go', as: 'tester' });
    expect(await engine.settled(turnId)).toMatchObject({ status: 'waiting_unknown', effects: [{ state: 'unknown', externalId: null }] });
    expect(sent('badid')).toHaveLength(1);
  });

  it.concurrent('case 37: the limit of a result falls inside a family → cut between characters, and said so', async () => {
    const { turn, told } = await speak('limit');
    expect(turn).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
    expect([told.isWellFormed(), told.length < around.body.length + 100, /\[… \d+ more characters left out\]$/.test(told)]).toEqual([true, true, true]);
    expect(model.violations).toEqual([]);
  });
});
