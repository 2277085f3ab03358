import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Temporal } from '../../dev/temporal/start.js';
import { CONVERSATION } from '../../workflows/messages.js';
import type { ConversationStart } from '../../workflows/messages.js';
import type { Carried } from '../../workflows/session.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { startShortRuns, SUGGEST_AFTER } from '../support/short-runs.js';
import { eventsOf } from '../support/thread.js';
import { waitFor } from '../support/wait.js';

let temporal: Temporal;
let model: FakeModel;
let target: RawTarget;
let engine: Engine;
/** Requests that wait for their answer, in the order in which they came. */
const held: (() => void)[] = [];

beforeAll(async () => {
  [temporal, model, target] = await Promise.all([startShortRuns(), startFakeModel(), startRawTarget()]);
  target.answer = (response, request) => void held.push(() => reply(200, { id: 'R' }, { 'content-type': 'application/json' })(response, request));
  model.script(plays({ do: [{ calls: [{ name: 'stubborn', args: {} }] }, { text: 'done' }] }));
  engine = await startEngine(`
[models.default]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
[agents.main]
instructions = "You are main."
effects = ["stubborn"]
[effects.stubborn]
type = "function"
module = ${JSON.stringify(fileURLToPath(new URL('../support/stubborn-effect.mjs', import.meta.url)))}
timeout = "500ms"
max_concurrent = 1
input_schema = { type = "object" }
`, { STUBBORN_URL: target.url, TEMPORAL_ADDRESS: temporal.address });
  await engine.worker();
});

afterAll(async () => {
  held.splice(0).forEach((answer) => answer());
  await engine?.close();
  await Promise.all([target?.stop(), model?.close(), temporal?.stop()]);
});

const begin = async (): Promise<string> => (await engine.client.submit({ agent: 'main', text: 'do', as: 'tester' })).turnId;

/** Makes a run long at once, and waits until it continues as new by itself: between two times that it asks for the permit. */
async function becomesLong(workflowId: string): Promise<void> {
  const handle = engine.temporal.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  for (let sent = 0; sent < SUGGEST_AFTER; sent += 1) await handle.signal('ledgerChanged', { key: 'none' });
  await waitFor(async () => (await handle.describe()).runId !== runId, { what: `${workflowId} to continue as new`, timeoutMs: 40_000 });
}

/** What the newest run of a conversation was given by the run that it continues. */
async function carriedTo(workflowId: string): Promise<ConversationStart & { carried: Carried }> {
  const [started] = await eventsOf(engine, workflowId);
  return defaultPayloadConverter.fromPayload(started!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!);
}

it('D27, D35, D1: a call waits for a permit until a time that later runs keep; then it has failed as not sent, and the reason names the effect', async () => {
  await engine.until(await begin(), 'waiting_unknown');
  const turnId = await begin();
  await waitFor(async () => (await engine.client.ledger({ turnId, kind: 'effect' })).length === 1, { what: 'the second effect' });
  const { workflowId } = await engine.client.turn(turnId);
  await becomesLong(workflowId);
  const start = await carriedTo(workflowId);
  const [call] = start.carried.running!.calls!;
  expect(call).toMatchObject({ phase: 'perform', permitUntilMs: expect.any(Number) as number });

  // The same run again, with that time passed.
  await engine.temporal.workflow.getHandle(workflowId).terminate();
  call!.permitUntilMs = 1;
  await engine.temporal.workflow.start(CONVERSATION, { workflowId, taskQueue: engine.taskQueue, args: [start] });
  const turn = await engine.settled(turnId);
  expect(turn).toMatchObject({ status: 'completed', text: expect.stringContaining('done') as string, effects: [{ state: 'failed' }] });
  const [entry] = await engine.client.ledger({ turnId, kind: 'effect' });
  expect(entry).toMatchObject({ state: 'failed', attempts: [], reason: expect.stringMatching(/permits of the effect stubborn are used up.*not sent/) as string });
  expect(JSON.stringify(model.requests.at(-1)!.body.messages.at(-1))).toContain('permits of the effect stubborn');
  expect(target.received).toHaveLength(1);
  expect(model.violations).toEqual([]);
});
