import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEntryView } from '../../contracts/ledger.js';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { waitFor } from '../support/wait.js';

const STUBBORN = JSON.stringify(fileURLToPath(new URL('../support/stubborn-effect.mjs', import.meta.url)));

let model: FakeModel;
let target: RawTarget;
let engine: Engine;
let worker: TestWorker;
/** Calls that wait for their answer, in the order in which they came. */
const held: ((body?: Record<string, string>) => void)[] = [];

beforeAll(async () => {
  [model, target] = await Promise.all([startFakeModel(), startRawTarget()]);
  // Nothing is found while a call goes on: absence is no proof then.
  target.answer = (response, request) => request.method === 'GET' ? void response.writeHead(404).end()
    : void held.push((body = { id: `R-${request.url}` }) => reply(200, body, { 'content-type': 'application/json' })(response, request));
  const names = ['repeated', 'asked'];
  model.script(plays(Object.fromEntries(names.map((name) => [name, [{ calls: [{ name, args: {} }] }, { text: 'done' }]]))));
  const effect = (name: string, keys: string) => `[effects.${name}]\ntype = "function"\nmodule = ${STUBBORN}\ntimeout = "500ms"\ninput_schema = { type = "object" }\n${keys}`;
  engine = await startEngine(`
[models.default]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
[agents.main]
instructions = "You are main."
effects = ${JSON.stringify(names)}
${effect('repeated', 'unknown = { retry = { max_attempts = 3, every = "100ms" } }')}
${effect('asked', 'export = "asked"\n[effects.asked.lookup]\nabsence = "authoritative"\nsettle_after = "100ms"\nevery = "100ms"')}
`, { STUBBORN_URL: target.url });
  worker = await engine.worker();
});

afterAll(async () => {
  held.splice(0).forEach((answer) => answer());
  await engine?.close();
  await Promise.all([target?.stop(), model?.close()]);
});

const calls = () => target.received.filter(({ method }) => method === 'POST');
const entryOf = async (turnId: string): Promise<LedgerEntryView> => (await engine.client.ledger({ turnId, kind: 'effect' }))[0]!;

/** A turn whose effect has outlived its limit and still runs. */
async function outlived(name: string): Promise<{ turnId: string; made: number }> {
  const made = calls().length + 1;
  const { turnId } = await engine.client.submit({ agent: 'main', text: name, as: 'tester' });
  await engine.until(turnId, 'waiting_unknown');
  expect(calls()).toHaveLength(made);
  return { turnId, made };
}

describe('work that goes on after its time limit', () => {
  it('D15, D17: the policy sends nothing beside it; its late success settles the entry and the turn goes on', async () => {
    const { turnId, made } = await outlived('repeated');
    const entry = await entryOf(turnId);
    expect(entry).toMatchObject({ state: 'unknown', attempts: [{ outcome: 'uncertain', note: 'the function did not end within its time limit; it goes on' }] });
    expect(await engine.client.settle(entry.key, { version: entry.version, outcome: 'retry', reason: 'try again', as: 'boss' })).toMatchObject({ result: 'refused', code: 'still_running' });
    held.shift()!();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ status: 'completed', effects: [{ state: 'reconciled', outcome: 'succeeded' }] });
    expect(calls()).toHaveLength(made);
    expect((await entryOf(turnId)).attempts).toMatchObject([{ outcome: 'succeeded' }]);
  });

  it('D15, D17: its late rejection settles the entry as failed, with its words', async () => {
    const { turnId, made } = await outlived('repeated');
    held.shift()!({ refused: 'sold out' });
    expect(await engine.until(turnId, 'completed')).toMatchObject({ effects: [{ state: 'reconciled', outcome: 'failed' }] });
    expect(await entryOf(turnId)).toMatchObject({ reason: expect.stringContaining('sold out') as string, attempts: [{ outcome: 'rejected' }] });
    expect(calls()).toHaveLength(made);
  });

  it('D13, D15: an authoritative absence proves nothing meanwhile, however often it is seen', async () => {
    const { turnId, made } = await outlived('asked');
    await waitFor(async () => (await entryOf(turnId)).evidence.filter(({ found }) => found === 'absent').length >= 5, { what: 'five look-ups that find nothing' });
    expect(calls()).toHaveLength(made);
    held.shift()!();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ status: 'completed', effects: [{ state: 'reconciled', outcome: 'succeeded' }] });
    expect(calls()).toHaveLength(made);
  });

  it('D15, D35: when its worker has died, the time of its last word bounds it, and then the policy goes on', async () => {
    const { turnId, made } = await outlived('repeated');
    worker.signal('SIGKILL');
    await worker.exited;
    worker = await engine.worker();
    const { key } = await entryOf(turnId);
    const wake = async () => engine.temporal.workflow.getHandle((await engine.pool.query<{ id: string }>('select workflow_id as id from holdfast.turn where turn_id = $1', [turnId])).rows[0]!.id).signal('ledgerChanged', { key });
    await wake();
    await engine.until(turnId, 'waiting_unknown');
    expect(calls()).toHaveLength(made);
    // The quiet time, passed.
    await engine.pool.query('update holdfast.physical_call set goes_on_until = now() where key = $1', [key]);
    await wake();
    await waitFor(() => Promise.resolve(calls().length === made + 1), { what: 'the policy to send it again' });
    held.splice(0).forEach((answer) => answer());
    expect(await engine.until(turnId, 'completed')).toMatchObject({ status: 'completed' });
    expect((await entryOf(turnId)).attempts).toMatchObject([{ outcome: 'uncertain' }, {}]);
  });
});
