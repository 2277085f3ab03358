import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresEffect } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import { createPostgresAdapter } from '../../effects/postgres/adapter.js';
import type { PerformResult } from '../../effects/types.js';
import { createPool } from '../../store/pool.js';
import { effectCall } from '../support/http-effect.js';
import { bookEffect, startApplication, type ApplicationWorld } from '../support/postgres-effect.js';
import { waitFor } from '../support/wait.js';

let world: ApplicationWorld;
let adapter: ReturnType<typeof createPostgresAdapter>;
const secrets: Record<string, string | undefined> = {};

beforeAll(async () => {
  world = await startApplication();
  secrets.APP_DSN = world.proxy.dsn;
  adapter = createPostgresAdapter({ secrets: (name) => secrets[name], databases: world.databases, ledgerDsn: world.dsn });
});

afterAll(() => world?.stop());

const calm = () => new AbortController().signal;
const perform = (key: string, args: JsonObject, change: Partial<PostgresEffect['postgres']> = {}): Promise<PerformResult> =>
  adapter.perform(effectCall(bookEffect('APP_DSN', change), key, args), calm());
const bookings = async (where = 'true') => (await world.pool.query(`select id::text, key, people, note from public.booking where ${where} order by id`)).rows as JsonObject[];

/** Does something while nobody can write to the table. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const blocker = await world.pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table public.booking in exclusive mode');
  try {
    await work();
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
}

describe('arguments and results', () => {
  it('D14: a missing argument is null, an object is JSON, and no value becomes part of the statement', async () => {
    const note = { text: `'); drop table booking; --`, list: [1, '{args.people}', null] };
    expect(await perform('a1', { note })).toMatchObject({ kind: 'succeeded' });
    expect(await bookings(`key = 'a1'`)).toMatchObject([{ people: null, note }]);
  });

  it('D14: an id beyond 2^53 keeps its digits', async () => {
    const done = await perform('a2', { people: 2 });
    const [row] = await bookings(`key = 'a2'`);
    expect(BigInt(String(row?.id))).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER));
    expect(done).toMatchObject({ kind: 'succeeded', externalId: row?.id, result: { count: 1, rows: [{ id: row?.id, people: 2, note: null }] } });
  });

  it('D8: a result that is too long is kept in part, and NUL cannot be in it', async () => {
    const done = await perform('a3', { people: 1 }, { statement: `select repeat('x', 1000001) as long, {key} as id`, resultId: 'id' });
    expect(done).toMatchObject({ kind: 'succeeded', externalId: 'a3', result: { clipped: true } });
  });
});

describe('what is refused', () => {
  const row = (key: string, statement: string, message: RegExp, resultId: string | null = null): [string, string, RegExp, string | null] => [key, statement, message, resultId];

  it.each([
    row('r1', `update booking set free = false where people = {args.people} and key = 'nobody'`, /affected 0 rows, at least 1 are needed/),
    row('r2', `insert into booking (people) values (500)`, /violates check constraint.*SQLSTATE 23514/),
    row('r3', `insert into nothing_here values (1)`, /does not exist.*42P01/),
    row('r4', `select 1 / 0`, /division by zero/),
    row('r5', `insert into booking (key) values ({key}) returning people`, /returned no usable "id"/, 'id'),
    row('r6', `select pg_notify('x', 'y'); select 2`, /several statements/),
    row('r7', `commit`, /must begin with one of/),
  ])('D18, D25: %s: `%s` changes nothing and says why', async (key, statement, message, resultId) => {
    const before = await bookings();
    const done = await perform(key, { people: 1 }, { statement, resultId });
    expect(['rejected', 'not_sent']).toContain(done.kind);
    expect(done).toMatchObject({ message: expect.stringMatching(message) as string });
    expect(await bookings()).toEqual(before);
    expect((await adapter.lookup(effectCall(bookEffect('APP_DSN'), key), calm())).kind).toBe('absent');
  });

  it('D18: an exception that a function raises is a rejection; a procedure cannot commit by itself', async () => {
    await world.pool.query(`create function public.refuse() returns int language plpgsql as $$ begin raise exception 'sold out'; end $$`);
    await world.pool.query(`create procedure public.commits() language plpgsql as $$ begin insert into public.booking (key) values ('proc'); commit; end $$`);
    expect(await perform('x1', {}, { statement: 'select refuse()', resultId: null })).toMatchObject({ kind: 'rejected', message: expect.stringContaining('sold out') as string });
    expect(await perform('x2', {}, { statement: 'call commits()', resultId: null, minRows: 0 })).toMatchObject({ kind: 'rejected', message: expect.stringContaining('invalid transaction termination') as string });
    expect(await bookings(`key = 'proc'`)).toEqual([]);
  });

  it('D19: a DSN that is missing or none is named by its variable, never by its value', async () => {
    const call = effectCall(bookEffect('OTHER_DSN'), 'k');
    expect(await adapter.perform(call, calm())).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('OTHER_DSN is not set') as string });
    secrets.OTHER_DSN = 'host=db password=hunter2hunter2';
    const done = await adapter.perform(call, calm());
    expect(done.kind).toBe('not_sent');
    expect(JSON.stringify(done)).not.toContain('hunter2');
    expect((await adapter.lookup(call, calm())).kind).toBe('inconclusive');
  });
});

describe('the marker', () => {
  it('D14: other arguments under the same key are a conflict', async () => {
    await perform('m1', { people: 1 });
    expect((await perform('m1', { people: 2 })).kind).toBe('conflict');
    expect(await world.happened('m1')).toBe(1);
  });

  it('D18: a commit that never arrived has changed nothing, and the same key then succeeds once', async () => {
    world.proxy.onCommit('lose_commit');
    expect((await perform('m2', { people: 1 })).kind).toBe('uncertain');
    await waitFor(async () => (await adapter.lookup(effectCall(bookEffect('APP_DSN'), 'm2'), calm())).kind === 'absent', { what: 'the server to undo it' });
    expect((await perform('m2', { people: 1 })).kind).toBe('succeeded');
    expect(await world.happened('m2')).toBe(1);
  });

  it('D13: while a transaction with the key is under way, a look-up says neither found nor absent', async () => {
    const look = () => adapter.lookup(effectCall(bookEffect('APP_DSN'), 'm3'), calm());
    let performing: Promise<PerformResult> | undefined;
    await whileLocked(async () => {
      performing = perform('m3', { people: 1 });
      expect(await waitFor(async () => { const seen = await look(); return seen.kind !== 'absent' && seen; }, { what: 'the transaction to be seen', timeoutMs: 4000 })).toMatchObject({ kind: 'inconclusive' });
    });
    expect((await performing)?.kind).toBe('succeeded');
    expect((await look()).kind).toBe('found');
  });

  it('D10: a statement that waits beyond the limit is ended and undone', async () => {
    const effect = { ...bookEffect('APP_DSN'), timeoutMs: 200 };
    await whileLocked(async () => {
      expect((await adapter.perform(effectCall(effect, 'm4', { people: 1 }), calm())).kind).toBe('not_sent');
    });
    expect((await adapter.lookup(effectCall(effect, 'm4'), calm())).kind).toBe('absent');
  });

  it('D18: two that make the table at the same moment both succeed; without the right to make it nothing happens', async () => {
    const fresh = await startApplication();
    const twice = [1, 2].map(() => createPostgresAdapter({ secrets: () => fresh.dsn, databases: fresh.databases, ledgerDsn: '' }));
    const done = await Promise.all(twice.map((one, index) => one.perform(effectCall(bookEffect('APP_DSN'), `both-${index}`, {}), calm())));
    expect(done.map((one) => one.kind)).toEqual(['succeeded', 'succeeded']);
    await fresh.pool.query('drop table public.holdfast_effect');
    await fresh.pool.query(`create role clerk_${process.pid} login password 'secretsecret'`);
    const dsn = new URL(fresh.dsn);
    [dsn.username, dsn.password] = [`clerk_${process.pid}`, 'secretsecret'];
    const clerk = createPostgresAdapter({ secrets: () => dsn.href, databases: fresh.databases, ledgerDsn: '' });
    const refused = await clerk.perform(effectCall(bookEffect('APP_DSN'), 'c', {}), calm());
    expect(refused).toMatchObject({ kind: 'rejected', message: expect.stringContaining('permission denied') as string });
    expect((await clerk.lookup(effectCall(bookEffect('APP_DSN'), 'c', {}), calm())).kind).toBe('inconclusive');
    await fresh.stop();
    await world.pool.query(`drop role clerk_${process.pid}`);
  });
});

describe('questions', () => {
  const approval = { expiresInMs: 1000, roles: ['approver'], approvers: 1, requesterMayApprove: true, attempts: 1, preview: null, precondition: null };
  const asking = (change: Partial<NonNullable<PostgresEffect['approval']>>, args: JsonObject = { people: 7 }) =>
    effectCall(bookEffect(null, {}, { approval: { ...approval, ...change } }), 'q', args);

  it('D21: a preview row is the state before; columns `before` and `after` are taken as such', async () => {
    await world.pool.query(`insert into public.booking (key, people) values ('seen', 7)`);
    const plain = await adapter.preview(asking({ preview: { query: 'select key, people, free from public.booking where people = {args.people}' } }), calm());
    expect(plain).toEqual({ kind: 'preview', before: { key: 'seen', people: 7, free: true }, after: { people: 7 } });
    const both = await adapter.preview(asking({ preview: { query: `select '{"a":1}'::jsonb as before, jsonb_build_object('a', {args.people}::int) as after` } }), calm());
    expect(both).toEqual({ kind: 'preview', before: { a: 1 }, after: { a: 7 } });
  });

  it('D25: a precondition needs a row that holds what is expected', async () => {
    const check = (query: string) => adapter.precondition(asking({ precondition: { query, expect: { free: true, seats: 4 } } }), calm());
    expect(await check(`select true as free, 4::bigint as seats, 'x' as more`)).toEqual({ holds: true });
    expect(await check('select true as free, 3 as seats')).toMatchObject({ holds: false, message: expect.stringContaining('seats must be 4, but is 3') as string });
    expect(await check('select true as free, 4 as seats where false')).toMatchObject({ holds: false, message: expect.stringContaining('no row') as string });
  });

  it('D21: a query cannot write, and one that is wrong says so', async () => {
    const writing = asking({ preview: { query: `with made as (insert into public.booking (key) values ('no') returning key) select * from made` } });
    await expect(adapter.preview(writing, calm())).rejects.toThrow('read-only transaction');
    expect(await bookings(`key = 'no'`)).toEqual([]);
    await expect(adapter.preview(asking({ preview: { query: 'select * from nothing_here' } }), calm())).rejects.toMatchObject({ failure: 'terminal' });
  });
});

it('C13: nothing of an effect leaves a transaction open', async () => {
  const pool = createPool({ dsn: world.dsn, max: 1 });
  const { rows } = await pool.query(`select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`);
  await pool.end();
  expect(rows).toEqual([]);
});

describe('what a server says to a commit', () => {
  it.each([
    ['40003', 'uncertain'], ['08006', 'uncertain'], ['08007', 'uncertain'], ['57P01', 'uncertain'], ['58030', 'uncertain'], ['53100', 'uncertain'], ['XX000', 'uncertain'], ['25P04', 'uncertain'],
    ['40001', 'not_sent'], ['40P01', 'not_sent'], ['40002', 'not_sent'], ['23514', 'rejected'], ['P0001', 'rejected'],
  ])('D10, D18: SQLSTATE %s to the commit of a statement is %s', async (state, kind) => {
    // A trigger that is deferred by another one: it fires in the commit itself.
    await world.pool.query(`
      create table if not exists public.late (key text, state text);
      create table if not exists public.later (state text);
      create or replace function public.late_check() returns trigger language plpgsql as $$ begin set constraints all deferred; insert into later values (new.state); return null; end $$;
      create or replace function public.later_check() returns trigger language plpgsql as $$ begin raise exception 'at commit' using errcode = new.state; end $$;
      drop trigger if exists late_check on public.late;
      drop trigger if exists later_check on public.later;
      create constraint trigger late_check after insert on public.late deferrable initially deferred for each row execute function public.late_check();
      create constraint trigger later_check after insert on public.later deferrable initially deferred for each row execute function public.later_check()`);
    expect(await perform(`late-${state}`, { state }, { statement: 'insert into public.late values ({key}, {args.state})', resultId: null })).toMatchObject({ kind });
  });
});

it.each([
  ['40003', 'not_sent'], ['08006', 'not_sent'], ['57014', 'not_sent'], ['25P04', 'not_sent'], ['72000', 'not_sent'], ['HV00N', 'not_sent'],
  ['HV000', 'rejected'], ['22012', 'rejected'], ['HF005', 'rejected'],
])('D10, D35: SQLSTATE %s of the statement itself is %s: the transaction is undone', async (state, kind) => {
  await world.pool.query(`create or replace function public.fail(state text) returns void language plpgsql as $$ begin raise exception 'at once' using errcode = state; end $$`);
  expect(await perform(`early-${state}`, { state }, { statement: 'select fail({args.state}::text)', resultId: null })).toMatchObject({ kind });
});

it('D10, D18: a deferred trigger that outlasts the time limit is ended by the server, and neither the change nor its marker is kept', async () => {
  await world.pool.query(`
    create table if not exists public.slow (key text);
    create or replace function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
    create constraint trigger slow after insert on public.slow deferrable initially deferred for each row execute function public.slow()`);
  const effect = bookEffect('APP_DSN', { statement: 'insert into public.slow values ({key})', resultId: null }, { timeoutMs: 300 });
  const call = effectCall(effect, 'slow', {});
  expect(await adapter.perform(call, calm())).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('57014') as string });
  expect((await adapter.lookup(call, calm())).kind).toBe('absent');
  expect((await world.pool.query('select from public.slow')).rowCount).toBe(0);
});
