import pg from 'pg';

export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;

/** What a store function needs: the caller owns connections and transactions. */
export type Db = Pick<pg.Pool, 'query'>;

/** A small pool that holds nothing when idle (C13). Every connection works in the schema `holdfast`. */
export function createPool(options: { dsn: string; max: number }): Pool {
  const pool = new pg.Pool({
    connectionString: options.dsn,
    max: options.max,
    min: 0,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    options: '-c search_path=holdfast',
    application_name: 'holdfast',
  });
  // An idle connection that the server ends is not an event for anyone: the next query opens another.
  pool.on('error', () => undefined);
  return pool;
}

/** Runs `work` in one transaction; any error rolls everything back. */
export async function inTransaction<T>(pool: Pool, work: (db: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that is lost between two statements fails the next one; without a listener it would end the process.
  const onError = (error: Error) => { broken = error; };
  client.on('error', onError);
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
    client.off('error', onError);
    client.release(broken);
  }
}
