import type { Json, JsonObject } from '../../contracts/json.js';
import type { Attempt, Judged, Sql } from '../../contracts/sql.js';
import { digestOf } from '../hash.js';
import type { Pool, PoolClient } from '../pool.js';
import { attempt, change, codeOf } from './transaction.js';
import type { Limits } from './transaction.js';

/** The table in the application's database that says which effects were done; docs/effects.md shows it. */
export const MARKER_DDL = `create table if not exists holdfast_effect (
  key text primary key,
  args_digest text not null,
  external_id text,
  result jsonb,
  at timestamptz not null default now()
)`;

const ready = new WeakSet<Pool>();

/**
 * Runs a change and writes its marker in one transaction (D18). A key that has its marker gets the stored result; other arguments under it
 * are a conflict (D14). A lock on the key makes calls with the same key wait for each other, and lets a look-up see one that is under way (D13).
 */
export async function once(pool: Pool, call: { key: string; args: JsonObject }, limits: Limits, work: (sql: Sql) => Promise<Judged>): Promise<Attempt<Judged | { kind: 'conflict'; message: string }>> {
  const made = await ensureTable(pool, limits);
  if (made.kind !== 'ended') return made.kind === 'lost' ? { kind: 'undone', error: made.error } : made;
  const digest = digestOf(call.args);
  const done = await attempt<Judged | { kind: 'conflict'; message: string }>(pool, limits, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lockName(call.key)]);
    const known = await read(client, call.key);
    if (known !== null && known.digest !== digest) return { commit: false, value: { kind: 'conflict', message: `the key ${call.key} was used with other arguments` } };
    if (known !== null) return { commit: false, value: { kind: 'succeeded', externalId: known.externalId, result: known.result } };
    const judged = await change(client, work);
    if (judged.kind !== 'succeeded') return { commit: false, value: judged };
    await client.query('insert into holdfast_effect (key, args_digest, external_id, result) values ($1, $2, $3, $4)', [call.key, digest, judged.externalId, JSON.stringify(judged.result)]);
    return { commit: true, value: judged };
  });
  // Somebody may have dropped the table since.
  if (done.kind === 'undone' && codeOf(done.error) === '42P01') ready.delete(pool);
  return done;
}

/** `busy`: a call with this key is under way. `no_table`: not the database that effects were written to, or none has begun. */
export type Found = { kind: 'found'; externalId: string | null; result: Json } | { kind: 'absent' } | { kind: 'busy' } | { kind: 'no_table' };

/**
 * Looks for the marker of a key. A marker that a living transaction has written is invisible, so the lock is asked for first: whoever has it
 * sees everything that earlier holders have committed (D13).
 */
export async function findMarker(pool: Pool, key: string, limits: Limits): Promise<Attempt<Found>> {
  return attempt<Found>(pool, limits, async (client) => {
    if (await tableMissing(client)) return { commit: false, value: { kind: 'no_table' } };
    const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free', [lockName(key)]);
    if (rows[0]?.free !== true) return { commit: false, value: { kind: 'busy' } };
    const known = await read(client, key);
    return { commit: false, value: known === null ? { kind: 'absent' } : { kind: 'found', externalId: known.externalId, result: known.result } };
  });
}

function lockName(key: string): string {
  return `holdfast_effect ${key}`;
}

async function read(client: PoolClient, key: string): Promise<{ digest: string; externalId: string | null; result: Json } | null> {
  const { rows } = await client.query<{ digest: string; externalId: string | null; result: Json }>(
    'select args_digest as digest, external_id as "externalId", result from holdfast_effect where key = $1', [key],
  );
  return rows[0] ?? null;
}

async function tableMissing(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ missing: boolean }>(`select to_regclass('holdfast_effect') is null as missing`);
  return rows[0]?.missing === true;
}

/** Made in a transaction of its own, behind a lock: two `create table if not exists` at once may both find nothing and collide. */
async function ensureTable(pool: Pool, limits: Limits): Promise<Attempt<null>> {
  if (ready.has(pool)) return { kind: 'ended', value: null };
  const made = await attempt(pool, limits, async (client) => {
    if (!(await tableMissing(client))) return { commit: false, value: null };
    await client.query(`select pg_advisory_xact_lock(hashtextextended('holdfast_effect', 0))`);
    await client.query(MARKER_DDL);
    return { commit: true, value: null };
  });
  if (made.kind === 'ended') ready.add(pool);
  return made;
}
