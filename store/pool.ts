import pg from 'pg';

export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;

/** What a store function needs: the caller owns connections and transactions. */
export type Db = Pick<pg.Pool, 'query'>;

/**
 * A small pool that holds nothing when idle (C13). Its sessions need no settings of their own, so that a pooler may stand between (PgBouncer in
 * transaction mode): every statement names the schema `holdfast` itself.
 */
export function createPool(options: { dsn: string; max: number }): Pool {
  const pool = new pg.Pool({
    connectionString: options.dsn,
    max: options.max,
    min: 0,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    application_name: 'holdfast',
  });
  // An idle connection that the server ends is not an event for anyone: the next query opens another.
  pool.on('error', () => undefined);
  // Nor is one that ends between two statements of a transaction: the next statement fails. Without a listener Node would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Runs `work` in one transaction; any error rolls everything back. */
export async function inTransaction<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
