import { afterAll, beforeAll, expect, it } from 'vitest';
import { toFailure } from '../../activities/failure.js';
import { createPool, inTransaction, type Db, type Pool } from '../../store/pool.js';
import { freshDatabase } from '../support/database.js';
import { waitFor } from '../support/wait.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 2 });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function backendOf(db: Db): Promise<number> {
  return ((await db.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid)!;
}

it('D35, D36: a connection that the server ends between two statements of a transaction fails the transaction, not the process, and the next one has another', async () => {
  const lost = inTransaction(pool, async (db) => {
    const pid = await backendOf(db);
    await pool.query('select pg_terminate_backend($1)', [pid]);
    await waitFor(async () => (await pool.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0, { what: 'the backend to be gone' });
    return backendOf(db);
  });
  const error: unknown = await lost.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(toFailure(error)).toMatchObject({ type: 'retryable', nonRetryable: false });
  expect(await inTransaction(pool, backendOf)).toBeGreaterThan(0);
});

it('D35: a connection that ends under a statement is the server\'s state, not a defect of ours', async () => {
  const error: unknown = await inTransaction(pool, (db) => db.query('select pg_terminate_backend(pg_backend_pid())')).catch((reason: unknown) => reason);
  expect(toFailure(error)).toMatchObject({ type: 'retryable', nonRetryable: false });
});
