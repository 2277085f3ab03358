import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { startPgProxy, type PgProxy } from '../support/pg-proxy.js';
import { startRemoteAgent, type RemoteAgentProcess } from '../support/remote-agent.js';
import { remoteScript } from '../support/remote-rig.js';

const MODULE = `
import { appendFileSync } from 'node:fs';
export const echo = async ({ request }) => { appendFileSync(new URL('calls', import.meta.url), request + '\\n'); return 'echo ' + request; };
`;

let model: FakeModel;
let remote: RemoteAgentProcess;
let proxy: PgProxy;
let engine: Engine;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'away-'));
  await writeFile(join(folder, 'functions.mjs'), MODULE);
  [model, remote, proxy] = await Promise.all([startFakeModel(), startRemoteAgent(), startPgProxy(inject('postgresDsn'))]);
  model.script(remoteScript);
  const toml = [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${model.url}"\nmodel = "scripted"\ntimeout = "20s"`,
    '[agents.main]\ninstructions = "You are the controller."\nchildren = ["credit", "echo"]',
    `[children.credit]\ntype = "a2a"\nurl = "${remote.url}"\npoll = "100ms"`,
    `[children.echo]\ntype = "function"\nmodule = "${join(folder, 'functions.mjs')}"\nexport = "echo"`,
  ].join('\n');
  engine = await startEngine(toml, {}, { temporalAddress: inject('temporalAddress'), postgresDsn: proxy.dsn });
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([model?.close(), remote?.close(), proxy?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Runs `text` and takes PostgreSQL away between the child's answer and its record. */
async function answeredWhileAway(text: string) {
  const worker = await engine.worker({ at: 'after_effect', signal: 'HOLD' });
  const { turnId } = await engine.client.submit({ agent: 'main', threadId: uniqueName('thread'), text, as: 'tester' });
  await worker.reached;
  proxy.shut();
  worker.release();
  await proxy.refused();
  proxy.open();
  const turn = await engine.settled(turnId);
  await worker.stop();
  return turn;
}

const outcomes = async (turnId: string) => (await engine.pool.query<{ outcome: string }>(
  `select p.outcome from holdfast.physical_call p join holdfast.ledger_entry e using (key) where e.turn_id = $1 and e.kind = 'child'`, [turnId],
)).rows.map(({ outcome }) => outcome);

describe('PostgreSQL is away right after a child has answered', () => {
  it.each([['message', 'plain message'], ['echo', 'echo']])('D13, D32, D35: a remote agent, by `%s` → its answer is kept, one message was sent', async (play, said) => {
    const word = uniqueName('word');
    const turn = await answeredWhileAway(`credit ${play} ${word}`);
    expect(turn).toMatchObject({ status: 'completed', text: `told: ${said} ${word}` });
    expect(await remote.began(word)).toHaveLength(1);
    expect(await outcomes(turn.turnId)).toEqual(['succeeded']);
  });

  it('D12, D35: a function → its result is kept, it ran once', async () => {
    const word = uniqueName('word');
    const turn = await answeredWhileAway(`echo ${word}`);
    expect(turn).toMatchObject({ status: 'completed', text: `told: echo ${word}` });
    expect((await readFile(join(folder, 'calls'), 'utf8')).split('\n').filter((line) => line === word)).toHaveLength(1);
    expect(await outcomes(turn.turnId)).toEqual(['succeeded']);
  });
});
