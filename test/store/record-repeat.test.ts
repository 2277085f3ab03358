import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordEffect, type EffectRecord } from '../../store/ledger/record-effect.js';
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
