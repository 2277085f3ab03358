import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import type { ScriptedReply } from '../../testing/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { testToml } from '../support/toml.js';

/** Most that one run may keep in Temporal, whatever passes through its turn. */
const MAX_HISTORY_BYTES = 100_000;
/** Most text of one result in a prompt (D8), with room for the marker. */
const MAX_TOLD = 33_000;

const mb = (size: number) => Math.round(size * 1_000_000);
const post = (args: object): ScriptedReply['calls'] => [{ name: 'post', args }];

interface Size {
  what: string;
  /** Megabytes of the user's text, of one argument, of each result, of a message of an error. */
  input?: number;
  args?: number;
  result?: number;
  calls?: number;
  status?: number;
  /** What becomes of the effects; default succeeded. */
  state?: string;
  /** The turn's end when it is not completed. */
  reason?: string;
}

const SIZES: Size[] = [
  { what: 'a user input of 3 MB', input: 3, calls: 0 },
  { what: 'an argument of 2 MB', args: 2 },
  { what: 'a result of 1.9 MB', result: 1.9 },
  { what: 'a result of 2.1 MB', result: 2.1 },
  { what: 'a result of 5 MB', result: 5 },
  { what: 'a result of 12 MB, whose id cannot be read,', result: 12, state: 'unknown' },
  { what: 'three results of 1.5 MB in one round', result: 1.5, calls: 3 },
  { what: 'a refusal of 3 MB', result: 3, status: 422, state: 'failed' },
  { what: 'an uncertain error of 3 MB', result: 3, status: 500, state: 'unknown' },
  { what: 'an error of the model of 3 MB', result: 3, calls: -1, reason: 'model_unavailable' },
];

let model: FakeModel;
let target: RawTarget;
let engine: Engine;

beforeAll(async () => {
  [model, target] = await Promise.all([startFakeModel(), startRawTarget()]);
  target.answer = (response, request) => {
    const { size, status } = JSON.parse(request.body) as { size: number; status: number };
    reply(status, { id: `R-${target.received.length}`, note: 'ü'.repeat(size / 2) }, { 'content-type': 'application/json' })(response, request);
  };
  model.script(plays(Object.fromEntries(SIZES.map((size, index) => [`play${index}`, [() => firstReply(size)]]))));
  engine = await startEngine(config(model.url, target.url));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([target?.stop(), model?.close()]);
});

function firstReply({ args = 0, result = 0, calls = 1, status = 201 }: Size): ScriptedReply {
  if (calls === -1) return { status: 400, text: 'e'.repeat(mb(result)) };
  if (calls === 0) return { text: 'ok' };
  return { calls: Array.from({ length: calls }, () => post({ size: mb(result), status, text: 'x'.repeat(mb(args)) })![0]!) };
}

function config(modelUrl: string, targetUrl: string): string {
  return testToml({ modelUrl, more: `
[agents.poster]
instructions = "You post."
model = "default"
effects = ["post"]
[effects.post]
type = "http"
description = "Post a text"
input_schema = { type = "object", required = ["size"], properties = { size = { type = "integer" }, status = { type = "integer" }, text = { type = "string" } } }
url = "${targetUrl}/posts"
result_id = "id"
timeout = "10s"
` });
}

describe('sizes above the limits of Temporal', () => {
  it.each(SIZES)('D8, case 09: $what: the turn ends by name with one effect each, the next turn works, and the history stays small', async (size) => {
    const { input = 0, calls = 1, state = 'succeeded', reason } = size;
    const thread = uniqueName('size');
    const text = `play${SIZES.indexOf(size)} ${'y'.repeat(mb(input))}`;
    const before = target.received.length;
    let turn = await engine.send(text, { agent: 'poster', thread });
    if (state === 'unknown') turn = await settled(turn);
    expect(turn).toMatchObject({ status: reason === undefined ? 'completed' : 'failed' });
    if (reason !== undefined) expect(turn.reason).toContain(reason);
    expect((turn.reason ?? '').length + (turn.text ?? '').length).toBeLessThan(5000);
    expect(turn.effects.map((effect) => effect.outcome ?? effect.state)).toEqual(Array.from({ length: Math.max(calls, 0) }, () => (state === 'unknown' ? 'succeeded' : state)));
    expect(target.received.length - before).toBe(Math.max(calls, 0));
    expect(turn.usage.modelCalls).toBeLessThanOrEqual(2);
    for (const told of said(requestAbout(model.requests, text.slice(0, 10)), 'tool')) expect(told.length).toBeLessThan(MAX_TOLD);

    expect(await engine.send(`next ${thread}`, { agent: 'poster', thread })).toMatchObject({ status: 'completed', text: 'ok' });
    const { historySize } = await engine.temporal.workflow.getHandle(turn.workflowId).describe();
    expect(historySize).toBeGreaterThan(1000);
    expect(historySize).toBeLessThan(MAX_HISTORY_BYTES);
    expect(model.violations).toEqual([]);
  });

  it('D8: an input above the accepted length is refused by name before anything is stored', async () => {
    const thread = uniqueName('size');
    await expect(engine.client.submit({ agent: 'poster', threadId: thread, text: 'y'.repeat(4_000_001), as: 'tester' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await engine.client.turns({ thread })).toEqual([]);
  });
});

async function settled(turn: TurnView): Promise<TurnView> {
  expect(turn).toMatchObject({ status: 'waiting_unknown', effects: [{ state: 'unknown' }] });
  expect(turn.reason!.length).toBeLessThan(5000);
  const entry = await engine.client.ledgerEntry(turn.effects[0]!.key);
  expect(JSON.stringify(entry).length).toBeLessThan(20_000);
  await engine.client.settle(entry.key, { version: entry.version, outcome: 'succeeded', externalId: 'R', reason: 'seen', as: 'op' });
  return engine.settled(turn.turnId);
}
