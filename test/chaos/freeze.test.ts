import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LedgerEntryView } from '../../contracts/ledger.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { waitFor } from '../support/wait.js';
import { chaosToml, obedient, type Kind } from './kinds.js';

const KINDS: Kind[] = ['keys_and_lookup', 'lookup_only', 'keys_only'];

let model: FakeModel;
let booking: Booking;
const engines: Engine[] = [];

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  booking = await startBooking();
});

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await booking?.stop();
  await model?.close();
});

async function frozen(at: string, kinds: Kind[]): Promise<{ engine: Engine; turnId: string; thaw(): void }> {
  const engine = await startEngine(chaosToml(model.url, Object.fromEntries(kinds.map((kind) => [kind, { kind, url: booking.url }]))));
  engines.push(engine);
  const worker = await engine.worker({ at, signal: 'SIGSTOP', count: kinds.length });
  const { turnId } = await engine.client.submit({ agent: 'main', text: `use ${kinds.join(',')}`, as: 'tester' });
  await worker.reached;
  await engine.worker();
  return { engine, turnId, thaw: () => worker.signal('SIGCONT') };
}

async function effectsOf(key: string): Promise<number> {
  return (await booking.log()).filter((effect) => effect.key === key || effect.reference === key).length;
}

/** What must not change once an effect is settled. */
function settledPart({ key, state, outcome, version, generation, externalId, result }: LedgerEntryView): object {
  return { key, state, outcome, version, generation, externalId, result };
}

/** Entries once every one of them holds what the thawed worker learned. */
async function withLateResults(engine: Engine, turnId: string): Promise<LedgerEntryView[]> {
  return waitFor(async () => {
    const entries = await engine.client.ledger({ turnId, kind: 'effect' });
    return entries.every((entry) => entry.evidence.some((item) => item.by === 'late result')) && entries;
  }, { what: 'the late results to be kept as evidence' });
}

it.concurrent.each([{ at: 'before_send', late: null }, { at: 'after_effect', late: 'found' }])(
  'D17, case 27: a worker frozen at $at past its time and thawed after another one took over changes nothing; what it learned is evidence', async ({ at, late }) => {
    const { engine, turnId, thaw } = await frozen(at, KINDS);
    const turn = await engine.until(turnId, 'completed');
    const before = await engine.client.ledger({ turnId, kind: 'effect' });
    thaw();
    const after = await withLateResults(engine, turnId);
    expect(after.map(settledPart)).toEqual(before.map(settledPart));
    expect(after.map((entry) => entry.evidence.find((item) => item.by === 'late result')?.found)).toEqual(KINDS.map(() => late));
    expect(await Promise.all(after.map((entry) => effectsOf(entry.key)))).toEqual([1, 1, 1]);
    expect(await engine.client.turn(turnId)).toEqual(turn);
    expect(model.violations).toEqual([]);
  }, 90_000);

it.concurrent('D16, D17, D28: a late success settles an entry that is unknown, and the waiting turn goes on by itself', async () => {
  const { engine, turnId, thaw } = await frozen('after_effect', ['neither']);
  await engine.until(turnId, 'waiting_unknown');
  thaw();
  const turn = await engine.until(turnId, 'completed');
  expect(turn.effects[0]).toMatchObject({ state: 'reconciled', outcome: 'succeeded', externalId: expect.stringMatching(/^R-/) });
  expect(turn.text).toContain(turn.effects[0]!.externalId);
  expect(await effectsOf(turn.effects[0]!.key)).toBe(1);
  expect(model.violations).toEqual([]);
}, 90_000);

it.concurrent('D13, D17: a late proof that nothing was sent lets the owning step send an unknown effect once', async () => {
  const { engine, turnId, thaw } = await frozen('before_send', ['neither']);
  const unknown = (await engine.until(turnId, 'waiting_unknown')).effects[0]!;
  await waitFor(async () => (await engine.pool.query('select from holdfast.ledger_entry where key = $1 and inflight_until < now()', [unknown.key])).rowCount === 1, { what: 'the time of the call to be over' });
  thaw();
  const turn = await engine.until(turnId, 'completed');
  expect(turn.effects[0]).toMatchObject({ state: 'succeeded', externalId: expect.stringMatching(/^R-/) });
  expect((await engine.client.ledgerEntry(unknown.key)).attempts.map((attempt) => attempt.outcome)).toEqual(['not_sent', 'succeeded']);
  expect(await effectsOf(unknown.key)).toBe(1);
  expect(model.violations).toEqual([]);
}, 90_000);
