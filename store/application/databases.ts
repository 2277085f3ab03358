import pg from 'pg';
import type { JsonObject } from '../../contracts/json.js';
import type { Attempt, Judged, Sql, SqlAnswer, SqlValue } from '../../contracts/sql.js';
import type { Pool } from '../pool.js';
import { findMarker, once } from './marker.js';
import type { Found } from './marker.js';
import { attempt, sqlOf } from './transaction.js';
import type { Limits } from './transaction.js';

/** Databases of the application, each with a small pool of its own: a statement that waits for a lock takes no connection of the ledger. */
export interface Databases {
  pool(dsn: string): Pool;
  once(dsn: string, call: { key: string; args: JsonObject }, limits: Limits, work: (sql: Sql) => Promise<Judged>): Promise<Attempt<Judged | { kind: 'conflict'; message: string }>>;
  find(dsn: string, key: string, limits: Limits): Promise<Attempt<Found>>;
  /** One query in a read-only transaction. */
  read(dsn: string, query: { text: string; values: SqlValue[] }, limits: Limits): Promise<Attempt<SqlAnswer>>;
  close(): Promise<void>;
}

/** `max`: connections to each database. Nothing is opened before it is needed. */
export function createDatabases({ max }: { max: number }): Databases {
  const pools = new Map<string, Pool>();
  const pool = (dsn: string): Pool => {
    const known = pools.get(dsn) ?? open(dsn, max);
    pools.set(dsn, known);
    return known;
  };
  return {
    pool,
    once: (dsn, call, limits, work) => once(pool(dsn), call, limits, work),
    find: (dsn, key, limits) => findMarker(pool(dsn), key, limits),
    read: (dsn, { text, values }, limits) => attempt(pool(dsn), { ...limits, readOnly: true }, async (client) => ({ commit: false, value: await sqlOf(client)(text, values) })),
    close: async () => {
      await Promise.all([...pools.values()].map((one) => one.end()));
    },
  };
}

/** Names mean what they mean to the user of the DSN. */
function open(dsn: string, max: number): Pool {
  const pool = new pg.Pool({ connectionString: dsn, max, min: 0, idleTimeoutMillis: 10_000, connectionTimeoutMillis: 10_000, application_name: 'holdfast effects' });
  pool.on('error', () => undefined);
  return pool;
}
