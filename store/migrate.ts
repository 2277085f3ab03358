import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const FOLDER = fileURLToPath(new URL('./migrations/', import.meta.url));

/** Applies what is missing, in order, each in its own transaction that records its row first. Two at once wait for each other. */
export async function migrate(dsn: string): Promise<{ applied: string[] }> {
  const client = new pg.Client({ connectionString: dsn, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return { applied: await applyAll(client) };
  } finally {
    await client.end();
  }
}

/** Names of all migrations of this build, in order. */
export async function migrationNames(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
}

async function applyAll(client: pg.Client): Promise<string[]> {
  await inLockedTransaction(client, async () => {
    await client.query('create schema if not exists holdfast');
    await client.query('create table if not exists holdfast.migration (name text primary key, applied_at timestamptz not null default now())');
  });
  const applied: string[] = [];
  for (const name of await migrationNames()) if (await applyOne(client, name)) applied.push(name);
  return applied;
}

async function applyOne(client: pg.Client, name: string): Promise<boolean> {
  const sql = await readFile(`${FOLDER}${name}`, 'utf8');
  return inLockedTransaction(client, async () => {
    const { rowCount } = await client.query('insert into holdfast.migration (name) values ($1) on conflict do nothing', [name]);
    if (rowCount === 0) return false;
    await client.query(sql);
    return true;
  });
}

async function inLockedTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    // For this transaction alone: behind a pooler the session belongs to others before and after it.
    await client.query(`select set_config('search_path', 'holdfast', true), set_config('client_min_messages', 'warning', true)`);
    await client.query(`select pg_advisory_xact_lock(hashtext('holdfast.migrate'))`);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
