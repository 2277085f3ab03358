import { afterAll, beforeAll, expect, it } from 'vitest';
import { clerkToml } from '../support/clerk-toml.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays } from '../support/plays.js';
import { eventsOf } from '../support/thread.js';
import { waitFor } from '../support/wait.js';
import { call } from '../support/cancel-rig.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;
const deploymentName = uniqueName('deployment');

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  engine = await startEngine(clerkToml(model.url, booking.url), { HOLDFAST_DEPLOYMENT: deploymentName });
  model.script(plays({ ask: [{ calls: [call('plain')] }, { calls: [call('approved')] }, { text: 'done' }] }));
});
afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

/** A worker process of this build. */
async function build(id: string): Promise<TestWorker> {
  engine.env['HOLDFAST_BUILD_ID'] = id;
  return engine.worker();
}

/** What `temporal worker deployment set-current-version` does; the server learns of a build when it polls. */
async function makeCurrent(buildId: string): Promise<void> {
  await waitFor(async () => {
    await engine.temporal.workflowService.setWorkerDeploymentCurrentVersion({ namespace: 'default', deploymentName, buildId, identity: 'tester' });
    return true;
  }, { what: `build ${buildId} to become the current one`, timeoutMs: 30_000 });
}

/** Builds that completed workflow tasks of a conversation, in order. */
async function builds(workflowId: string): Promise<string[]> {
  const tasks = (await eventsOf(engine, workflowId)).flatMap((event) => event.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId ?? []);
  return tasks.filter((id, index) => id !== tasks[index - 1]);
}

it('D34: a new build gets nothing until it is made current; then a waiting turn goes on with it, without its old build, and what was done is not done again', async () => {
  const old = await build('build-1');
  await makeCurrent('build-1');
  const turn = await engine.send('ask', { agent: 'clerk' });
  expect(turn.status).toBe('waiting_approval');

  await build('build-2');
  const between = await engine.send('hello', { agent: 'clerk' });
  expect([between.status, await builds(between.workflowId)]).toEqual(['completed', ['build-1']]);

  await makeCurrent('build-2');
  await old.stop();
  const [approval] = turn.approvals;
  await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'boss' });
  const end = await engine.until(turn.turnId, 'completed');
  expect(await builds(turn.workflowId)).toEqual(['build-1', 'build-2']);
  expect(end.effects.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  expect((await booking.log()).filter(({ key }) => key?.startsWith(turn.turnId))).toHaveLength(2);
  expect(model.violations).toEqual([]);
});
