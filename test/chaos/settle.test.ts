import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerEntryView } from '../../contracts/ledger.js';
import type { TurnView } from '../../contracts/turn.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { waitFor } from '../support/wait.js';
import { chaosToml, obedient } from './kinds.js';

const NAMES = ['stale', 'failed', 'retry', 'race', 'cancel', 'cancel_sweep', 'behind', 'sweep'] as const;
type Name = (typeof NAMES)[number];

let model: FakeModel;
let engine: Engine;
const bookings = new Map<Name, Booking>();

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  for (const { name, booking } of await Promise.all(NAMES.map(async (name) => ({ name, booking: await startBooking() })))) bookings.set(name, booking);
  const effects = NAMES.map((name) => {
    const url = bookings.get(name)!.url;
    // A sweep that is asked for must find the effect before the turn's own look does.
    return [name, name === 'sweep' || name === 'cancel_sweep' ? { kind: 'lookup_eventual' as const, url, every: '1h' } : { kind: 'neither' as const, url }] as const;
  });
  engine = await startEngine(chaosToml(model.url, Object.fromEntries(effects)));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([...bookings.values()].map((booking) => booking.stop()));
  await model?.close();
});

interface Unknown {
  booking: Booking;
  turn: TurnView;
  entry: LedgerEntryView;
  settle(outcome: 'succeeded' | 'failed' | 'retry', version?: number): ReturnType<Engine['client']['settle']>;
}

/** A turn that waits for a person, because the answer of its effect was lost on this side of it. */
async function unknown(name: Name, when: 'before' | 'after', thread = uniqueName('thread')): Promise<Unknown> {
  const booking = bookings.get(name)!;
  await booking.setFaults({ dropNext: { when }, lookup: 'empty' });
  const turn = await engine.send(`use ${name}`, { thread });
  expect(turn).toMatchObject({ status: 'waiting_unknown', effects: [{ state: 'unknown' }] });
  const entry = await engine.client.ledgerEntry(turn.effects[0]!.key);
  return {
    booking, turn, entry,
    settle: (outcome, version = entry.version) =>
      engine.client.settle(entry.key, { version, outcome, ...(outcome === 'succeeded' ? { externalId: 'R-seen' } : {}), reason: 'asked the restaurant', as: 'op' }),
  };
}

async function effectsOf(booking: Booking, key: string): Promise<number> {
  return (await booking.log()).filter((effect) => effect.key === key || effect.reference === key).length;
}

async function runClosed(turn: TurnView): Promise<void> {
  await waitFor(async () => (await engine.temporal.workflow.getHandle(turn.workflowId).describe()).status.name === 'COMPLETED', { what: 'the run to close' });
}

describe('an unknown effect', () => {
  it.concurrent('D16: is not settled against a version that nobody sees any more, and is settled by the version that is', async () => {
    const { turn, entry, settle } = await unknown('stale', 'after');
    expect(await settle('succeeded', entry.version - 1)).toMatchObject({ result: 'refused', code: 'stale_version' });
    expect(await engine.client.ledgerEntry(entry.key)).toEqual(entry);
    expect(await settle('succeeded')).toMatchObject({ result: 'settled', version: entry.version + 1 });
    const done = await engine.until(turn.turnId, 'completed');
    expect(done).toMatchObject({ effects: [{ state: 'reconciled', outcome: 'succeeded', externalId: 'R-seen' }], text: expect.stringContaining('R-seen') });
    expect(await settle('failed', entry.version + 1)).toMatchObject({ result: 'refused', code: 'not_unknown' });
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D16: that a person settles as failed is told to the model as not done, and their reason is kept', async () => {
    const { booking, turn, entry, settle } = await unknown('failed', 'before');
    await settle('failed');
    expect(await engine.until(turn.turnId, 'completed')).toMatchObject({ effects: [{ state: 'reconciled', outcome: 'failed' }], text: expect.stringContaining('It was not done. asked the restaurant') });
    expect((await engine.client.ledgerEntry(entry.key)).evidence.at(-1)).toMatchObject({ by: 'op', note: 'settled as failed: asked the restaurant' });
    expect(await effectsOf(booking, entry.key)).toBe(0);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D11, D16: that a person wants tried again is sent once more under the same key by the waiting turn', async () => {
    const { booking, turn, entry, settle } = await unknown('retry', 'before');
    expect(await settle('retry')).toMatchObject({ result: 'retrying', generation: entry.generation });
    expect((await engine.until(turn.turnId, 'completed')).effects).toMatchObject([{ key: entry.key, state: 'succeeded' }]);
    const after = await engine.client.ledgerEntry(entry.key);
    expect(after.attempts.map((attempt) => attempt.outcome)).toEqual(['uncertain', 'succeeded']);
    expect(new Set(after.attempts.map((attempt) => attempt.physicalCallId)).size).toBe(2);
    expect([(await booking.posts())[entry.key], await effectsOf(booking, entry.key)]).toEqual([2, 1]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D16: that ten people settle at once is settled by one of them', async () => {
    const { turn, entry } = await unknown('race', 'after');
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) =>
      engine.client.settle(entry.key, { version: entry.version, outcome: i % 2 === 0 ? 'succeeded' : 'failed', reason: `word of ${i}`, as: `op${i}` })));
    expect(answers.filter((answer) => answer.result === 'settled')).toHaveLength(1);
    await engine.until(turn.turnId, 'completed');
    expect((await engine.client.ledgerEntry(entry.key)).evidence.filter((item) => item.note.startsWith('settled as'))).toHaveLength(1);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D16, D28: outlives a cancel of its turn, is told in the response, and is settled in PostgreSQL after the run has closed', async () => {
    const { booking, turn, entry, settle } = await unknown('cancel', 'after');
    await engine.client.cancel(turn.turnId, { as: 'op' });
    const cancelled = await engine.until(turn.turnId, 'cancelled');
    expect(cancelled).toMatchObject({ effects: [{ state: 'unknown' }], text: expect.stringContaining('Not known whether it was done: cancel. A person has to check.') });
    await runClosed(turn);
    expect(await settle('retry')).toMatchObject({ result: 'refused', code: 'turn_finished' });
    expect(await settle('succeeded')).toMatchObject({ result: 'settled' });
    expect(await engine.client.ledgerEntry(entry.key)).toMatchObject({ state: 'reconciled', outcome: 'succeeded', externalId: 'R-seen' });
    expect(await effectsOf(booking, entry.key)).toBe(1);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D15, D28: of a cancelled turn is still found by a sweep after the run has closed, and the ended turn stays as it is', async () => {
    const { booking, turn, entry } = await unknown('cancel_sweep', 'after');
    await engine.client.cancel(turn.turnId, { as: 'op' });
    const cancelled = await engine.until(turn.turnId, 'cancelled');
    await runClosed(turn);
    await booking.clearFaults();
    expect(await engine.client.reconcile(entry.key)).toMatchObject([{ state: 'reconciled', outcome: 'succeeded', externalId: expect.stringMatching(/^R-/) }]);
    expect(await engine.client.turn(turn.turnId)).toMatchObject({ status: 'cancelled', text: cancelled.text });
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D16: holds back further input of its thread, whose sender is told which turn is in front; settling lets both go on in order', async () => {
    const thread = uniqueName('thread');
    const { turn, settle } = await unknown('behind', 'after', thread);
    const next = await engine.client.submit({ agent: 'main', threadId: thread, text: 'hi', as: 'tester' });
    expect(await engine.client.waitForTurn(next.turnId, { timeoutMs: 20_000 })).toMatchObject({ why: 'behind', behind: { turnId: turn.turnId, status: 'waiting_unknown' }, turn: { status: 'queued' } });
    await settle('succeeded');
    expect((await engine.until(next.turnId, 'completed')).text).toBe('Hello.');
    expect((await engine.client.turn(turn.turnId)).status).toBe('completed');
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D15, case 28: stays unknown through any number of look-ups, each kept as evidence, until one finds the late effect; then the turn goes on by itself', async () => {
    const { booking, turn, entry } = await unknown('sweep', 'after');
    const looks = entry.evidence.length;
    expect(entry.evidence.at(-1)).toMatchObject({ found: 'absent' });
    await booking.setFaults({ lookup: 'garbage' });
    expect(await engine.client.reconcile(entry.key)).toMatchObject([{ state: 'unknown', version: entry.version, generation: entry.generation }]);
    await booking.setFaults({ lookup: 'fail' });
    const [seen] = await engine.client.reconcile(entry.key);
    expect(seen!.evidence.slice(looks).map((item) => [item.by, item.found])).toEqual([['operator', 'inconclusive'], ['operator', 'inconclusive']]);
    expect(seen!.state).toBe('unknown');
    await booking.clearFaults();
    expect(await engine.client.reconcile(entry.key)).toMatchObject([{ state: 'reconciled', outcome: 'succeeded' }]);
    expect((await engine.until(turn.turnId, 'completed')).text).toContain('R-');
    expect([(await booking.posts())[entry.key], await effectsOf(booking, entry.key)]).toEqual([1, 1]);
    expect(model.violations).toEqual([]);
  });
});
