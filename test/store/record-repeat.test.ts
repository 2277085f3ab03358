import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordEffect, recordLateResult, type EffectRecord } from '../../store/ledger/record-effect.js';
import { createPool, type Pool } from '../../store/pool.js';
import { freshDatabase } from '../support/database.js';
import { seedEntry, seedTurn } from './views-seed.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 2 });
  await seedTurn(pool, { id: 't' });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** The record of the only call of a dispatched effect, which claimed generation 1. */
async function called(step: number, end: Pick<EffectRecord, 'state' | 'call'>): Promise<EffectRecord> {
  const key = await seedEntry(pool, { turn: 't', step, idx: 0, kind: 'effect', name: 'reserve', state: 'dispatched', dispatched: true });
  await pool.query('update holdfast.ledger_entry set generation = 1 where key = $1', [key]);
  const physicalCallId = randomUUID();
  await pool.query('insert into holdfast.physical_call (id, key, generation) values ($1, $2, 1)', [physicalCallId, key]);
  return { key, generation: 1, physicalCallId, externalId: 'R-1', result: null, note: null, ...end };
}

it.each([
  { state: 'succeeded', call: 'succeeded' }, { state: 'unknown', call: 'uncertain' }, { state: 'failed', call: 'rejected' },
] as const)('D12, D17: a result ($state) that is recorded again, because the first answer of the database got lost, changes nothing and is not late', async (end) => {
  const record = await called({ succeeded: 1, unknown: 2, failed: 3 }[end.state], end);
  expect(await recordEffect(pool, record)).toBe(end.state);
  const before = await pool.query('select * from holdfast.ledger_entry where key = $1', [record.key]);
  expect(await recordEffect(pool, record)).toBe(end.state);
  expect((await pool.query('select * from holdfast.ledger_entry where key = $1', [record.key])).rows).toEqual(before.rows);
});

it('D17: the result of a call whose entry a newer generation has taken over is late, however often it is recorded', async () => {
  const record = await called(4, { state: 'succeeded', call: 'succeeded' });
  await pool.query('update holdfast.ledger_entry set generation = 2 where key = $1', [record.key]);
  expect([await recordEffect(pool, record), await recordEffect(pool, record)]).toEqual([null, null]);
});

const outcomeOf = async (record: EffectRecord): Promise<string> =>
  (await pool.query<{ outcome: string }>('select outcome from holdfast.physical_call where id = $1', [record.physicalCallId])).rows[0]!.outcome;

it.each([
  { state: 'succeeded', call: 'succeeded' }, { state: 'failed', call: 'rejected' }, { state: 'dispatched', call: 'not_sent' },
] as const)('D17, D18: a call that is known as $call stays so, and its entry as it is, when the same call is said to be uncertain afterwards', async (end) => {
  const record = await called({ succeeded: 5, rejected: 6, not_sent: 7 }[end.call], end);
  await recordEffect(pool, record);
  expect(await recordEffect(pool, { ...record, state: 'unknown', call: 'uncertain', note: 'the commit was not answered' })).toBe(end.state);
  expect(await outcomeOf(record)).toBe(end.call);
});

it('D17: a late success whose first record was cut off after its call was noted still settles the entry', async () => {
  const record = await called(8, { state: 'unknown', call: 'uncertain' });
  await recordEffect(pool, record);
  const late: EffectRecord = { ...record, state: 'succeeded', call: 'succeeded' };
  // Each time the call is noted; the worker's connection is lost before the entry is settled.
  expect([await recordEffect(pool, late), await recordEffect(pool, late)]).toEqual([null, null]);
  expect(await recordLateResult(pool, late)).toMatchObject({ state: 'reconciled', waited: true });
  expect(await recordEffect(pool, late)).toBe('reconciled');
});

it('D17: the database refuses every change of what is known of a physical call, and lets the rest be refined', async () => {
  const allowed: string[] = [];
  const OUTCOMES = ['open', 'succeeded', 'rejected', 'not_sent', 'uncertain', 'absent'];
  const record = await called(9, { state: 'unknown', call: 'uncertain' });
  for (const from of OUTCOMES) {
    for (const to of OUTCOMES.filter((outcome) => outcome !== from)) {
      const id = randomUUID();
      await pool.query('insert into holdfast.physical_call (id, key, generation, outcome) values ($1, $2, 1, $3)', [id, record.key, from]);
      const answer = await pool.query('update holdfast.physical_call set outcome = $2 where id = $1', [id, to]).then(() => 'ok', (error: { code: string }) => error.code);
      if (answer === 'ok') allowed.push(from);
      else expect(answer).toBe('HF014');
    }
  }
  expect([...new Set(allowed)]).toEqual(['open', 'uncertain', 'absent']);
});
