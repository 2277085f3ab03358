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
import { waitFor } from '../support/wait.js';

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

describe('a deferred trigger of the application', () => {
  /** Fires `body` after an insert into `booking` with that key, as late as it may; unqualified names are in it. */
  async function late(key: string, body: string): Promise<void> {
    await world.pool.query(`
      create table if not exists public.audit (note text);
      create or replace function public.late() returns trigger language plpgsql as $$ begin ${body} return null; end $$;
      drop trigger if exists late on public.booking;
      create constraint trigger late after insert on public.booking deferrable initially deferred for each row when (new.key = '${key}') execute function public.late()`);
  }
  const kept = async (key: string) => ({
    bookings: await world.happened(key), audit: (await world.pool.query('select from public.audit where note = $1', [key])).rowCount, entry: (await entryOf(world.pool, key)).state,
    calls: (await world.pool.query<{ outcome: string }>('select outcome from holdfast.physical_call where key = $1', [key])).rows.map(({ outcome }) => outcome),
  });

  it('D18: what it does is part of the commit, and its names are the application\'s', async () => {
    await late('t.2.0', `insert into audit values (new.key);`);
    expect(await perform('t.2.0')).toMatchObject({ kind: 'succeeded' });
    expect(await kept('t.2.0')).toEqual({ bookings: 1, audit: 1, entry: 'succeeded', calls: ['succeeded'] });
  });

  it('D10, D18: one that refuses undoes everything, also the record of success, and its words are told', async () => {
    await late('t.2.1', `insert into audit values (new.key); raise exception 'the house is closed';`);
    expect(await perform('t.2.1')).toMatchObject({ kind: 'rejected', message: expect.stringContaining('the house is closed') as string });
    expect(await kept('t.2.1')).toEqual({ bookings: 0, audit: 0, entry: 'dispatched', calls: ['open'] });
  });

  it('D10, D18, D27: one that outlasts the time limit is ended by the server, everything is undone, and a cancel has not waited for it', async () => {
    await late('t.2.2', `insert into audit values (new.key); perform pg_sleep(60);`);
    const [key, physicalCallId] = ['t.2.2', randomUUID()];
    await enter(world.pool, key, { people: 1 });
    await claimEffect(world.pool, { key, generation: null, beforeMs: null, physicalCallId, timeoutMs: 5000 });
    const ending = inLedger(statements(), { key, generation: 1, physicalCallId }, { timeoutMs: 2000, signal: calm() }, async (sql) => {
      await sql('insert into booking (key) values ($1)', [key]);
      return { kind: 'succeeded', externalId: null, result: null };
    });
    await waitFor(async () => (await world.pool.query(`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`)).rowCount === 1, { what: 'the trigger' });
    const cancelling = world.pool.query(`update holdfast.turn set cancel_requested_at = now()`).then(() => 'cancelled');
    expect(await Promise.race([cancelling, ending])).toBe('cancelled');
    await world.pool.query(`update holdfast.turn set cancel_requested_at = null`);
    expect(await ending).toMatchObject({ kind: 'undone', error: { code: '57014' } });
    expect(await kept(key)).toEqual({ bookings: 0, audit: 0, entry: 'dispatched', calls: ['open'] });
  });
});
