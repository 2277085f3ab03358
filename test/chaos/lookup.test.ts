import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LookupVerdict } from '../../contracts/ledger.js';
import { startBooking, type Booking, type BookingFaults } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { waitFor } from '../support/wait.js';
import { chaosToml, obedient, type Kind } from './kinds.js';

interface Case {
  name: string;
  kind: Kind;
  says: string;
  faults: BookingFaults;
  /** State once nothing moves any more while the fault of the look-up lasts. */
  state: 'succeeded' | 'reconciled' | 'unknown';
  posts: number;
  effects: number;
  /** A verdict that must be among the evidence; null: the kind has no look-up, so there is no evidence. */
  saw: LookupVerdict | null;
  /** Requests and effects after the look-up works again, for an entry that stayed unknown: the waiting turn looks by itself (D15). */
  later?: { state: 'succeeded' | 'reconciled'; posts: number; effects: number };
}

const found = { state: 'reconciled', posts: 1, effects: 1 } as const;
const CASES: Case[] = [
  { name: 'a', kind: 'keys_and_lookup', says: 'a failing look-up leads to a resend under the same key', faults: { dropNext: { when: 'after' }, lookup: 'fail' }, state: 'succeeded', posts: 2, effects: 1, saw: 'inconclusive' },
  { name: 'b', kind: 'keys_and_lookup', says: 'an unreadable look-up leads to a resend under the same key', faults: { failNext: { status: 503, when: 'after' }, lookup: 'garbage' }, state: 'succeeded', posts: 2, effects: 1, saw: 'inconclusive' },
  { name: 'c', kind: 'lookup_only', says: 'several matches are not absence: unknown, found later', faults: { dropNext: { when: 'after' }, lookup: 'many' }, state: 'unknown', posts: 1, effects: 1, saw: 'inconclusive', later: found },
  { name: 'd', kind: 'lookup_only', says: 'a match without its id is not absence: unknown, found later', faults: { failNext: { status: 500, when: 'after' }, lookup: 'no_id' }, state: 'unknown', posts: 1, effects: 1, saw: 'inconclusive', later: found },
  { name: 'e', kind: 'lookup_only', says: 'a failing look-up is not absence: unknown; proven absent later, it is sent again', faults: { dropNext: { when: 'before' }, lookup: 'fail' }, state: 'unknown', posts: 1, effects: 0, saw: 'inconclusive', later: { state: 'succeeded', posts: 2, effects: 1 } },
  { name: 'f', kind: 'lookup_only', says: 'a 503 after the effect is found', faults: { failNext: { status: 503, when: 'after' } }, state: 'reconciled', posts: 1, effects: 1, saw: 'found' },
  { name: 'g', kind: 'lookup_only', says: 'a connection dropped before the effect is proven absent and sent again', faults: { dropNext: { when: 'before' } }, state: 'succeeded', posts: 2, effects: 1, saw: 'absent' },
  { name: 'h', kind: 'keys_only', says: '408 is unknown, not failed: sent again under the same key', faults: { failNext: { status: 408, when: 'after' } }, state: 'succeeded', posts: 2, effects: 1, saw: null },
  { name: 'i', kind: 'lookup_only', says: 'a call that hangs after its effect is found once its time is over', faults: { hangNext: { when: 'after' } }, state: 'reconciled', posts: 1, effects: 1, saw: 'found' },
  { name: 'j', kind: 'keys_only', says: 'a call that hangs before its effect is sent again under the same key', faults: { hangNext: { when: 'before' } }, state: 'succeeded', posts: 2, effects: 1, saw: null },
  { name: 'k', kind: 'lookup_eventual', says: 'absence that proves nothing: unknown, found later', faults: { dropNext: { when: 'after' }, lookup: 'empty' }, state: 'unknown', posts: 1, effects: 1, saw: 'absent', later: found },
];

let model: FakeModel;
let engine: Engine;
const bookings = new Map<string, Booking>();

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  for (const { name, booking } of await Promise.all(CASES.map(async ({ name }) => ({ name, booking: await startBooking() })))) bookings.set(name, booking);
  engine = await startEngine(chaosToml(model.url, Object.fromEntries(CASES.map(({ name, kind }) => [name, { kind, url: bookings.get(name)!.url, timeout: '1500ms' }]))));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([...bookings.values()].map((booking) => booking.stop()));
  await model?.close();
});

async function counts(booking: Booking, key: string): Promise<{ posts: number; effects: number }> {
  const effects = (await booking.log()).filter((effect) => effect.key === key || effect.reference === key).length;
  return { posts: (await booking.posts())[key] ?? 0, effects };
}

describe('an uncertain answer', () => {
  it.concurrent.each(CASES)('D10, D13, D15: $kind: $says', async ({ name, faults, state, posts, effects, saw, later }) => {
    const booking = bookings.get(name)!;
    await booking.setFaults(faults);
    const turn = await engine.send(`use ${name}`);
    const key = turn.effects[0]!.key;
    const entry = await engine.client.ledgerEntry(key);
    expect(entry.state).toBe(state);
    expect(await counts(booking, key)).toEqual({ posts, effects });
    expect(entry.attempts).toHaveLength(posts);
    expect(saw === null ? entry.evidence : entry.evidence.map((item) => item.found)).toEqual(saw === null ? [] : expect.arrayContaining([saw]));
    expect(turn.status).toBe(later === undefined ? 'completed' : 'waiting_unknown');
    if (later !== undefined) {
      // The schedule of the waiting turn looks again and finds the same, however often: time alone decides nothing.
      await waitFor(async () => (await engine.client.ledgerEntry(key)).evidence.length > entry.evidence.length, { what: 'another look-up' });
      expect(await engine.client.ledgerEntry(key)).toMatchObject({ state: 'unknown', version: entry.version });
      await booking.clearFaults();
      const ended = await engine.until(turn.turnId, 'completed');
      expect(ended.effects[0]).toMatchObject({ state: later.state, externalId: expect.stringMatching(/^R-/) });
      expect(await counts(booking, key)).toEqual({ posts: later.posts, effects: later.effects });
    }
    expect(model.violations).toEqual([]);
  });
});
