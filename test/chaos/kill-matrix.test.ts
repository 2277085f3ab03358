import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LedgerEntryView } from '../../contracts/ledger.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { waitFor } from '../support/wait.js';
import { chaosToml, obedient, type Kind } from './kinds.js';

const KINDS: Kind[] = ['keys_and_lookup', 'lookup_only', 'keys_only', 'neither'];
const POINTS = ['before_dispatch', 'after_dispatch', 'before_send', 'after_effect', 'after_record'] as const;
type Point = (typeof POINTS)[number];

/** What must come out (D13): a lost result is found by look-up, else the same key is sent again, else a person is asked. */
const RIGHT: Record<Point, Record<string, string>> = {
  before_dispatch: { keys_and_lookup: 'succeeded', lookup_only: 'succeeded', keys_only: 'succeeded', neither: 'succeeded' },
  after_dispatch: { keys_and_lookup: 'succeeded', lookup_only: 'succeeded', keys_only: 'succeeded', neither: 'unknown' },
  before_send: { keys_and_lookup: 'succeeded', lookup_only: 'succeeded', keys_only: 'succeeded', neither: 'unknown' },
  after_effect: { keys_and_lookup: 'reconciled', lookup_only: 'reconciled', keys_only: 'succeeded', neither: 'unknown' },
  after_record: { keys_and_lookup: 'succeeded', lookup_only: 'succeeded', keys_only: 'succeeded', neither: 'succeeded' },
};

interface Row {
  point: Point;
  kind: string;
  state: string;
  effects: number;
  duplicates: number;
  losses: number;
}

const rows: Row[] = [];
const engines: Engine[] = [];
let model: FakeModel;
let booking: Booking;

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

/** One turn with one effect of every kind; its worker dies when all of them stand at the point, and a fresh one takes over. */
async function killAt(point: Point): Promise<{ engine: Engine; turnId: string; entries: LedgerEntryView[] }> {
  const engine = await startEngine(chaosToml(model.url, Object.fromEntries(KINDS.map((kind) => [kind, { kind, url: booking.url }]))));
  engines.push(engine);
  const worker = await engine.worker({ at: point, signal: 'SIGKILL', count: KINDS.length });
  const { turnId } = await engine.client.submit({ agent: 'main', text: `use ${KINDS.join(',')}`, as: 'tester' });
  await worker.exited;
  await engine.worker();
  const entries = await waitFor(async () => {
    const effects = await engine.client.ledger({ turnId, kind: 'effect' });
    return effects.length === KINDS.length && effects.every((entry) => entry.state !== 'dispatched' && entry.state !== 'pending') && effects;
  }, { what: `the effects of ${point} to be settled or unknown`, timeoutMs: 50_000 });
  return { engine, turnId, entries };
}

async function effectsOf(key: string): Promise<number> {
  return (await booking.log()).filter((effect) => effect.key === key || effect.reference === key).length;
}

async function tabulate(point: Point, entries: LedgerEntryView[]): Promise<void> {
  for (const { key, effect: kind, state } of entries) {
    const effects = await effectsOf(key);
    const claimsDone = state === 'succeeded' || state === 'reconciled';
    rows.push({ point, kind, state, effects, duplicates: Math.max(0, effects - 1), losses: claimsDone && effects === 0 ? 1 : 0 });
  }
}

/** A person who looked at the target settles what stayed unknown; then the turn goes on by itself (D16). */
async function settleUnknown(engine: Engine, turnId: string, entries: LedgerEntryView[]): Promise<void> {
  const open = entries.filter((entry) => entry.state === 'unknown');
  if (open.length > 0) expect((await engine.until(turnId, 'waiting_unknown')).text).toBeNull();
  for (const { key, version } of open) {
    const happened = (await effectsOf(key)) === 1;
    const outcome = happened ? ('succeeded' as const) : ('failed' as const);
    const answer = await engine.client.settle(key, { version, outcome, ...(happened ? { externalId: 'R-seen' } : {}), reason: 'looked it up', as: 'op' });
    expect(answer).toMatchObject({ result: 'settled' });
  }
}

it('D36, D13, D16, case 02: a worker killed at any point of any kind of effect makes no duplicate and no loss; what cannot be known is unknown and a person decides', async () => {
  await Promise.all(POINTS.map(async (point) => {
    const { engine, turnId, entries } = await killAt(point);
    await tabulate(point, entries);
    await settleUnknown(engine, turnId, entries);
    const turn = await engine.until(turnId, 'completed');
    expect(turn.usage.modelCalls).toBe(2);
    const neither = turn.effects.find((effect) => effect.effect === 'neither');
    expect(turn.text).toContain(RIGHT[point].neither !== 'unknown' ? 'confirmed' : neither?.outcome === 'succeeded' ? 'R-seen' : 'It was not done. looked it up');
  }));
  console.table(rows);
  const found = Object.fromEntries(POINTS.map((point) => [point, Object.fromEntries(rows.filter((row) => row.point === point).map((row) => [row.kind, row.state]))]));
  expect(found).toEqual(RIGHT);
  expect(rows.filter((row) => row.duplicates > 0 || row.losses > 0)).toEqual([]);
  expect(rows.filter((row) => row.state !== 'unknown' && row.effects !== 1)).toEqual([]);
  expect(model.violations).toEqual([]);
}, 120_000);
