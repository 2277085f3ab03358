import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { chaosToml } from './kinds.js';

/** Where the worker dies in a chat turn, and the model calls that are really made (D12: at most one more, and none once it is stored). */
const POINTS = [
  { at: 'after_model', asked: 2, generation: 2 },
  { at: 'after_model_stored', asked: 1, generation: 1 },
  { at: 'before_report', asked: 1, generation: 1 },
];

let model: FakeModel;
const engines: Engine[] = [];

beforeAll(async () => {
  model = await startFakeModel();
  model.script(() => ({ text: 'Hello!' }));
});

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await model?.close();
});

it('D12, D36: a worker killed around a model call or before the report pays at most once more, and the turn ends once with one answer', async () => {
  await Promise.all(POINTS.map(async ({ at, asked, generation }) => {
    const engine = await startEngine(chaosToml(model.url, {}));
    engines.push(engine);
    const worker = await engine.worker({ at, signal: 'SIGKILL' });
    const text = `hello at ${at}`;
    const { turnId, threadId } = await engine.client.submit({ agent: 'main', text, as: 'tester' });
    await worker.exited;
    await engine.worker();
    expect(await engine.until(turnId, 'completed'), at).toMatchObject({ text: 'Hello!', usage: { modelCalls: 1 } });
    expect(model.requests.filter(({ body }) => body.messages.at(-1)?.content === text).length, `model calls, killed ${at}`).toBe(asked);
    const [entry] = await engine.client.ledger({ turnId, kind: 'model' });
    expect(entry, at).toMatchObject({ state: 'succeeded', generation });
    const { rows } = await engine.pool.query('select body ->> $2 as role from holdfast.message where thread_id = $1 order by seq', [threadId, 'role']);
    expect(rows, at).toEqual([{ role: 'user' }, { role: 'assistant' }]);
  }));
  expect(model.violations).toEqual([]);
}, 120_000);

it('D1: a conversation starts with a workflow task timeout that lets another worker take over within 3 s', async () => {
  const engine = await startEngine(chaosToml(model.url, {}));
  engines.push(engine);
  await engine.worker();
  const turn = await engine.send('hello');
  const { events } = await engine.temporal.workflow.getHandle(turn.workflowId).fetchHistory();
  const timeout = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout;
  expect(Number(timeout?.seconds)).toBeGreaterThan(0);
  expect(Number(timeout?.seconds)).toBeLessThanOrEqual(3);
  expect(model.violations).toEqual([]);
});
