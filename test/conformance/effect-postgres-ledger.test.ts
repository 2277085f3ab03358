import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresEffect } from '../../contracts/effect.js';
import type { InLedger } from '../../contracts/sql.js';
import { createPostgresAdapter } from '../../effects/postgres/adapter.js';
import { inLedger } from '../../store/application/in-ledger.js';
import { claimEffect } from '../../store/ledger/claim-effect.js';
import { giveUpUnsent, markAbsent } from '../../store/ledger/reconcile.js';
import { effectCall } from '../support/http-effect.js';
import { enter, entryOf, ledgerFor, seedOpenTurn } from '../support/ledger-rig.js';
import { bookEffect, startApplication, type ApplicationWorld } from '../support/postgres-effect.js';

let world: ApplicationWorld;
let adapter: ReturnType<typeof createPostgresAdapter>;

beforeAll(async () => {
  world = await startApplication();
  await seedOpenTurn(world.pool);
  adapter = createPostgresAdapter({ secrets: () => undefined, databases: world.databases, ledgerDsn: world.dsn });
});

afterAll(() => world?.stop());

const calm = () => new AbortController().signal;
const statements = () => world.databases.pool(world.dsn);

/** Performs the effect; `meanwhile` runs between its statement and the record of it. */
function perform(key: string, change: Partial<PostgresEffect['postgres']> = {}, meanwhile: () => Promise<unknown> = async () => undefined) {
  const call = effectCall(bookEffect(null, change), key, { people: 1 });
  const outer = ledgerFor(world.pool, statements(), call, calm());
  const ledger: InLedger = (work) => outer(async (sql) => {
    const judged = await work(sql);
    await meanwhile();
    return judged;
  });
  return adapter.perform(call, calm(), ledger);
}

/** A claim: the first, or of the next generation as recovery makes it. */
const takeOver = (key: string, generation: number | null) => claimEffect(world.pool, { key, generation, beforeMs: null, physicalCallId: randomUUID(), timeoutMs: 5000 });

describe('an effect in the ledger\'s own database', () => {
  it('D18: change and record are one commit: the entry is settled with the id of the row', async () => {
    const done = await perform('t.1.0');
    expect(done).toMatchObject({ kind: 'succeeded', result: { count: 1 } });
    expect(await entryOf(world.pool, 't.1.0')).toMatchObject({ state: 'succeeded', externalId: done.kind === 'succeeded' ? done.externalId : '' });
    expect((await world.pool.query(`select outcome from holdfast.physical_call where key = 't.1.0'`)).rows).toEqual([{ outcome: 'succeeded' }]);
  });

  it('D18: unqualified names are the application\'s; Holdfast\'s tables are not among them', async () => {
    await world.pool.query('create table public.turn (note text)');
    expect(await perform('t.1.1', { statement: `insert into turn (note) values ({key})`, resultId: null })).toMatchObject({ kind: 'succeeded' });
    expect((await world.pool.query('select note from public.turn')).rows).toEqual([{ note: 't.1.1' }]);
    expect(await perform('t.1.2', { statement: `update ledger_entry set reason = 'mine'`, resultId: null })).toMatchObject({ kind: 'rejected', message: expect.stringContaining('does not exist') as string });
  });

  it('D27: a cancel between the statement and the commit undoes both', async () => {
    const done = await perform('t.1.3', {}, () => world.pool.query(`update holdfast.turn set cancel_requested_at = now()`));
    await world.pool.query(`update holdfast.turn set cancel_requested_at = null`);
    expect(done).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('cancelled') as string });
    expect(await world.happened('t.1.3')).toBe(0);
    expect((await entryOf(world.pool, 't.1.3')).state).toBe('dispatched');
  });

  it('D17: an older generation changes nothing', async () => {
    await enter(world.pool, 't.1.4', { people: 1 });
    const first = await takeOver('t.1.4', null);
    expect(first).toMatchObject({ kind: 'claimed', generation: 1 });
    await takeOver('t.1.4', 1);
    const late = await inLedger(statements(), { key: 't.1.4', generation: 1, physicalCallId: 'p' }, { timeoutMs: 5000, signal: calm() }, async (sql) => {
      await sql(`insert into booking (key) values ($1)`, ['t.1.4']);
      return { kind: 'succeeded', externalId: null, result: null };
    });
    expect(late.kind).toBe('undone');
    expect(await world.happened('t.1.4')).toBe(0);
  });

  it('D17, D18: whoever takes over, or gives up, waits for the transaction and finds it done', async () => {
    let claim: ReturnType<typeof takeOver> | undefined;
    let givenUp: Promise<boolean> | undefined;
    const done = await perform('t.1.5', {}, async () => {
      await markAbsent(world.pool, 't.1.5', 1);
      [claim, givenUp] = [takeOver('t.1.5', 1), giveUpUnsent(world.pool, 't.1.5', 'gave up')];
    });
    expect(done.kind).toBe('succeeded');
    expect(await claim).toMatchObject({ kind: 'refused' });
    await givenUp;
    expect(await entryOf(world.pool, 't.1.5')).toMatchObject({ state: 'succeeded', generation: 1 });
    expect((await world.pool.query(`select outcome from holdfast.physical_call where key = 't.1.5'`)).rows).toEqual([{ outcome: 'succeeded' }]);
    expect(await world.happened('t.1.5')).toBe(1);
  });

  it('D18: a text with several statements is refused by the server, so none of them can commit', async () => {
    await enter(world.pool, 't.1.6', { people: 1 });
    await takeOver('t.1.6', null);
    const done = await inLedger(statements(), { key: 't.1.6', generation: 1, physicalCallId: 'p' }, { timeoutMs: 5000, signal: calm() }, async (sql) => {
      await sql(`insert into booking (key) values ('t.1.6'); commit`, []);
      return { kind: 'succeeded', externalId: null, result: null };
    });
    expect(done).toMatchObject({ kind: 'undone', error: { code: '42601' } });
    expect(await world.happened('t.1.6')).toBe(0);
  });
});
