import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine, type Interrupt } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { startRemoteAgent, type RemoteAgentProcess } from '../support/remote-agent.js';
import { remoteScript, remoteToml } from '../support/remote-rig.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
/** Starts something new for every message that it gets. */
let remote: RemoteAgentProcess;
/** Starts nothing new for a message id that it has seen. */
let sure: RemoteAgentProcess;
const engines: Engine[] = [];

beforeAll(async () => {
  [model, remote, sure] = await Promise.all([startFakeModel(), startRemoteAgent(), startRemoteAgent({ idempotent: true })]);
  model.script(remoteScript);
});

afterEach(() => Promise.all([remote, sure].map((agent) => agent.setFaults({ list: 'ok' }))));

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await Promise.all([model?.close(), remote?.close(), sure?.close()]);
});

async function newEngine(): Promise<Engine> {
  const engine = await startEngine(remoteToml(model.url, remote.url, sure.url), { REMOTE_TOKEN: 'token-of-the-remote-agent' });
  engines.push(engine);
  return engine;
}

const begin = async (engine: Engine, text: string) => (await engine.client.submit({ agent: 'main', threadId: uniqueName('thread'), text, as: 'tester' })).turnId;
const physical = async (engine: Engine, turnId: string) =>
  (await engine.pool.query<{ key: string; outcome: string }>('select p.key, p.outcome from holdfast.physical_call p join holdfast.ledger_entry e using (key) where e.turn_id = $1 and e.kind = $2 order by p.generation', [turnId, 'child'])).rows;

/** Where the worker dies, how often the remote agent began by then, and how often in the end. */
const POINTS: [string, Interrupt['at'], string, number, string | RegExp][] = [
  ['after the dispatch row, before a byte left', 'after_dispatch', 'credit echo', 0, /failed.*It is not known whether the remote agent works on it/],
  ['after the dispatch row, before a byte left, and it is idempotent', 'after_dispatch', 'sure echo', 1, /^told: echo/],
  ['after the answer with the task id, before that is recorded', 'after_effect', 'credit echo', 1, /^told: echo/],
  ['after the task id is recorded', 'after_record', 'credit echo', 1, /^told: echo/],
];

describe('the worker is killed', () => {
  it.each(POINTS)('D13, D32: %s → the task is looked for before anything is sent, and it never begins twice', async (_, at, play, times, text) => {
    const engine = await newEngine();
    const worker = await engine.worker({ at, signal: 'SIGKILL' });
    const word = uniqueName('word');
    const turnId = await begin(engine, `${play} ${word}`);
    const key = await worker.reached;
    await worker.exited;
    await engine.worker();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: expect.stringMatching(text) });
    const began = [...(await remote.began(word)), ...(await sure.began(word))];
    expect(began.map(({ messageId }) => messageId)).toEqual(Array.from({ length: times }, () => key));
    expect(model.violations).toEqual([]);
  });

  it('D32, D36: while its task works → another worker takes the task up by its id and waits on, one message was sent', async () => {
    const engine = await newEngine();
    const worker = await engine.worker();
    const word = uniqueName('word');
    const turnId = await begin(engine, `credit slow ${word}`);
    await waitFor(async () => (await physical(engine, turnId))[0]?.outcome === 'succeeded', { what: 'the recorded task' });
    await worker.stop();
    await engine.worker();
    await waitFor(async () => (await engine.pool.query('select from holdfast.ledger_entry where turn_id = $1 and kind = $2 and generation >= 2', [turnId, 'child'])).rowCount === 1, { what: 'the second worker to take it up' });
    await remote.release();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: 'told: done at last' });
    expect(await physical(engine, turnId)).toHaveLength(1);
    expect(await remote.began(word)).toHaveLength(1);
  });

  it('D27: and the turn is cancelled while nobody works → the next worker ends the task at the remote agent before the turn ends', async () => {
    const engine = await newEngine();
    const worker = await engine.worker({ at: 'after_record', signal: 'SIGKILL' });
    const turnId = await begin(engine, `credit slow ${uniqueName('word')}`);
    const key = await worker.reached;
    await worker.exited;
    expect(await remote.open()).toBe(1);
    const { workflowId } = await engine.client.turn(turnId);
    await engine.temporal.workflow.getHandle(workflowId).signal('cancel', { turnId });
    await engine.worker();
    expect(await engine.settled(turnId)).toMatchObject({ status: 'cancelled' });
    expect(await remote.open()).toBe(0);
    expect(await engine.client.ledgerEntry(key)).toMatchObject({ state: 'cancelled', reason: expect.stringContaining('has ended its task (canceled)') });
  });
});

describe('the remote agent', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await newEngine();
    await engine.worker();
  });

  it('D13, D32: it dies after it has accepted the task and comes back → the task is looked up, not sent again', async () => {
    const word = uniqueName('word');
    await remote.setFaults({ die: true });
    const turnId = await begin(engine, `credit echo ${word}`);
    await remote.died();
    await waitFor(async () => (await physical(engine, turnId))[0]?.outcome === 'uncertain', { what: 'the lost answer' });
    await remote.restart();
    const turn = await engine.until(turnId, 'completed');
    expect(turn.text).toBe(`told: echo ${word}`);
    expect(await remote.began(word)).toHaveLength(1);
    const entry = await engine.client.ledgerEntry((await physical(engine, turnId))[0]!.key);
    expect(entry).toMatchObject({ attempts: [{ outcome: 'uncertain' }], state: 'succeeded', externalId: (await remote.began(word))[0]!.taskId });
    expect(entry.evidence.at(-1)).toMatchObject({ found: 'found' });
  });

  it('D32: it dies while its task works and comes back → it is asked again, one message was sent', async () => {
    const word = uniqueName('word');
    const turnId = await begin(engine, `credit slow ${word}`);
    await waitFor(async () => (await physical(engine, turnId))[0]?.outcome === 'succeeded', { what: 'the recorded task' });
    await remote.kill();
    await remote.restart();
    await remote.release();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: 'told: done at last' });
    expect(await remote.began(word)).toHaveLength(1);
  });

  it.each([
    ['cannot list tasks', 'credit', { drop: true, list: 'none' }, 1, 'It is not known whether'],
    ['lists nothing', 'credit', { drop: true, list: 'empty' }, 1, 'It is not known whether'],
    ['never got it', 'credit', { lost: true }, 0, 'It is not known whether'],
    ['cannot list tasks, but is idempotent', 'sure', { drop: true, list: 'none' }, 1, 'told: echo'],
    ['never got it, but is idempotent', 'sure', { lost: true }, 1, 'told: echo'],
  ] as const)('D13: its answer is lost and it %s → sent again only where it is declared idempotent, else told as not known', async (_, child, faults, times, text) => {
    const word = uniqueName('word');
    await (child === 'sure' ? sure : remote).setFaults(faults);
    const turnId = await begin(engine, `${child} echo ${word}`);
    expect((await engine.until(turnId, 'completed')).text).toContain(text);
    const began = [...(await remote.began(word)), ...(await sure.began(word))];
    expect(began).toHaveLength(times);
    expect(await physical(engine, turnId)).toHaveLength(child === 'sure' ? 2 : 1);
  });
});
