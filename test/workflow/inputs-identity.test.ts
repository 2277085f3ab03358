import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HoldfastClient } from '../../client/index.js';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { lastUser, messagesOf, timesAsked } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { freePort } from '../support/wait.js';

let model: FakeModel;
let engine: Engine;
let worker: TestWorker;

beforeAll(async () => {
  model = await startFakeModel();
  model.script((request) => (lastUser(request).includes('please fail') ? { status: 400, text: 'no' } : { text: `re ${lastUser(request)}` }));
  engine = await startEngine(testToml({ modelUrl: model.url }));
  worker = await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const submit = (thread: string, requestId: string, text: string) => engine.client.submit({ agent: 'main', threadId: thread, requestId, text, as: 'tester' });

/** A client whose Temporal does not exist: what it answers comes from PostgreSQL alone. */
async function withoutTemporal(): Promise<HoldfastClient> {
  const address = `127.0.0.1:${await freePort()}`;
  return HoldfastClient.connect({ settings: { temporal: { address, namespace: 'default' }, postgres: { dsn: engine.env.POSTGRES_ORCH_DSN!, poolMax: 1 }, taskQueue: engine.taskQueue } });
}

describe('a request that is sent again', () => {
  it.each([
    { how: 'three times at once', times: 3 },
    { how: 'twenty times at once', times: 20 },
  ])('D2, case 17: $how is one turn, and every sender is told the same', async ({ times }) => {
    const thread = uniqueName('twice');
    const told = await Promise.all(Array.from({ length: times }, () => submit(thread, 'r', thread)));
    expect(new Set(told.map(({ turnId, intoTurnId }) => `${turnId} ${intoTurnId}`)).size).toBe(1);
    expect(told.filter(({ repeat }) => !repeat)).toHaveLength(1);
    await engine.settled(told[0]!.turnId);
    expect(timesAsked(model.requests, thread)).toBe(1);
    expect(await messagesOf(engine, thread)).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  it.each([
    { after: 'its end', text: 'fine', status: 'completed' },
    { after: 'a failure', text: 'please fail', status: 'failed' },
  ])('D2, case 17: after $after and a restart of the worker it is the same turn with its outcome', async ({ text, status }) => {
    const thread = uniqueName('again');
    const first = await engine.send(`${thread} ${text}`, { thread, requestId: 'r' });
    expect(first.status).toBe(status);
    await worker.stop();
    worker = await engine.worker();
    expect(await submit(thread, 'r', `${thread} ${text}`)).toMatchObject({ turnId: first.turnId, intoTurnId: first.turnId, status, repeat: true });
    expect(await engine.settled(first.turnId)).toEqual(first);
    expect(timesAsked(model.requests, `${thread} ${text}`)).toBe(1);
    expect(model.violations).toEqual([]);
  });

  it('D2: with its history gone and Temporal away, the record in PostgreSQL answers', async () => {
    const thread = uniqueName('gone');
    const first = await engine.send(thread, { thread, requestId: 'r' });
    await engine.temporal.workflow.getHandle(first.workflowId).terminate('its history is deleted');
    await engine.temporal.workflowService.deleteWorkflowExecution({ namespace: 'default', workflowExecution: { workflowId: first.workflowId } });
    const client = await withoutTemporal();
    try {
      expect(await client.submit({ agent: 'main', threadId: thread, requestId: 'r', text: thread, as: 'tester' })).toMatchObject({ turnId: first.turnId, status: 'completed', repeat: true });
      expect(await client.turn(first.turnId)).toEqual(first);
      await expect(client.submit({ agent: 'main', threadId: thread, requestId: 'r', text: 'other', as: 'tester' })).rejects.toMatchObject({ code: 'conflict' });
    } finally {
      await client.close();
    }
    expect(model.violations).toEqual([]);
  });

  it.each([
    { what: 'other text', change: { text: 'other' } },
    { what: 'data added', change: { data: { a: 1 } } },
    { what: 'a file added', change: { files: [{ id: 'f', name: 'f', mime: 'text/plain', size: 1 }] } },
  ])('D2, case 17: with $what it is a conflict and starts no turn', async ({ change }) => {
    const thread = uniqueName('other');
    const first = await engine.send(thread, { thread, requestId: 'r' });
    const repeat = { agent: 'main', threadId: thread, requestId: 'r', text: thread, as: 'tester', ...change };
    await expect(engine.client.submit(repeat)).rejects.toMatchObject({ code: 'conflict' });
    expect((await engine.client.turns({ thread })).map(({ turnId }) => turnId)).toEqual([first.turnId]);
    expect(await messagesOf(engine, thread)).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  it('D2: the first sender dies before it reaches the conversation: the repeat starts the turn', async () => {
    const thread = uniqueName('died');
    const client = await withoutTemporal();
    await expect(client.submit({ agent: 'main', threadId: thread, requestId: 'r', text: thread, as: 'tester' })).rejects.toMatchObject({ code: 'unreachable' });
    await client.close();
    const again = await submit(thread, 'r', thread);
    expect(again.repeat).toBe(true);
    expect(await engine.settled(again.turnId)).toMatchObject({ status: 'completed', text: `re ${thread}` });
    expect(timesAsked(model.requests, thread)).toBe(1);
    expect(model.violations).toEqual([]);
  });
});
