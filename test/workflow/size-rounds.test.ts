import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { chainOf } from '../support/short-runs.js';
import { testToml } from '../support/toml.js';

const ROUNDS = 300;
const RESULT = 'ü'.repeat(75_000);
/** Bytes of history that one round may cost (D8). */
const ROUND_BYTES = 4000;

let model: FakeModel;
let target: RawTarget;
let engine: Engine;

beforeAll(async () => {
  [model, target] = await Promise.all([startFakeModel(), startRawTarget()]);
  target.answer = (response, request) => reply(201, { id: `R-${target.received.length}`, note: RESULT }, { 'content-type': 'application/json' })(response, request);
  let made = 0;
  model.script(() => ((made += 1) <= ROUNDS ? { calls: [{ name: 'post', args: { round: made } }] } : { text: 'done' }));
  engine = await startEngine(testToml({
    modelUrl: model.url,
    more: `[agents.poster]\ninstructions = "You post."\nmodel = "default"\neffects = ["post"]\nmax_steps = ${ROUNDS + 1}\n[agents.poster.memory]\nwindow_size = 6\n`
      + `[effects.post]\ntype = "http"\ninput_schema = { type = "object", required = ["round"], properties = { round = { type = "integer" } } }\nurl = "${target.url}/post"\nresult_id = "id"\n[effects.post.idempotency]\n`,
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([target?.stop(), model?.close()]);
});

describe('a turn of 300 rounds whose results have 150 kB each', () => {
  it('D8, case 46: ends, does each effect once, and its history and prompts do not grow with the rounds', async () => {
    const thread = uniqueName('rounds');
    const { turnId } = await engine.client.submit({ agent: 'poster', threadId: thread, text: 'post all', as: 'tester' });
    const turn = await engine.settled(turnId, 240_000);
    expect(turn).toMatchObject({ status: 'completed', text: 'done', steps: ROUNDS + 1, usage: { modelCalls: ROUNDS + 1, effects: ROUNDS } });
    const keys = target.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(ROUNDS);
    expect(new Set(keys).size).toBe(ROUNDS);
    const prompts = model.requests.map(({ body }) => JSON.stringify(body).length);
    expect(Math.max(...prompts.slice(-10))).toBeLessThan(1.1 * Math.max(...prompts.slice(10, 20)));
    const events = (await chainOf(engine, turn.workflowId)).flat();
    expect(events.length).toBeGreaterThan(ROUNDS);
    const bytes = Buffer.byteLength(JSON.stringify(events, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value)));
    expect(bytes / ROUNDS).toBeLessThan(4 * ROUND_BYTES);
    expect(model.violations).toEqual([]);
  }, 300_000);
});
