import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HoldfastClient } from '../../client/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { startPgProxy, type PgProxy } from '../support/pg-proxy.js';
import { testToml } from '../support/toml.js';

let model: FakeModel;
let engine: Engine;
let proxy: PgProxy;
let client: HoldfastClient;

beforeAll(async () => {
  model = await startFakeModel();
  engine = await startEngine(testToml({ modelUrl: model.url }));
  await engine.worker();
  // Only the client's way to PostgreSQL is cut.
  proxy = await startPgProxy(engine.env.POSTGRES_ORCH_DSN!);
  client = await HoldfastClient.connect({
    settings: { temporal: { address: inject('temporalAddress'), namespace: 'default' }, postgres: { dsn: proxy.dsn, poolMax: 2 }, taskQueue: engine.taskQueue },
  });
});

afterAll(async () => {
  await client?.close();
  await engine?.close();
  await Promise.all([model?.close(), proxy?.stop()]);
});

describe('a client that waits for a turn', () => {
  it('D35: PostgreSQL is away for a moment → the wait goes on and tells how the turn ended', async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((isAsked) => {
      model.script(async () => {
        isAsked();
        await new Promise<void>((resolve) => { answer = resolve; });
        return { text: 'there' };
      });
    });
    const { turnId } = await client.submit({ agent: 'main', threadId: uniqueName('wait'), text: 'wait', as: 'tester' });
    await asked;
    const waited = client.waitForTurn(turnId, { timeoutMs: 40_000 });
    proxy.shut();
    await proxy.refused();
    proxy.open();
    answer();
    expect(await waited).toMatchObject({ why: 'ended', turn: { status: 'completed', text: 'there' } });
  });

  it('I1: PostgreSQL stays away → the sender is told where it was looked for', async () => {
    proxy.shut();
    await expect(client.waitForTurn('t1', { timeoutMs: 300 })).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining('cannot be reached') as string });
    await proxy.refused();
    proxy.open();
  });
});
