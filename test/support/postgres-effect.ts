import type { PostgresEffect } from '../../contracts/effect.js';
import { createDatabases } from '../../store/application/databases.js';
import { createPool } from '../../store/pool.js';
import { freshDatabase } from './database.js';
import { startPgProxy, type PgProxy } from './pg-proxy.js';

export const TABLE = `create table public.booking (id bigint generated always as identity (start with 9007199254740993), key text, people int check (people < 100), note jsonb, free boolean not null default true)`;

/** An insert into `TABLE`; `dsnEnv` null: in the ledger's own database. */
export function bookEffect(dsnEnv: string | null, change: Partial<PostgresEffect['postgres']> = {}, more: Partial<PostgresEffect> = {}): PostgresEffect {
  return {
    name: 'book', type: 'postgres', description: 'Book a table', inputSchema: { type: 'object' }, sequential: false, timeoutMs: 5000,
    postgres: { dsnEnv, statement: 'insert into booking (key, people, note) values ({key}, {args.people}, {args.note}) returning id, people, note', resultId: 'id', minRows: 1, ...change },
    idempotency: { retentionMs: 3_153_600_000_000, onMismatch: 'conflict' }, lookup: { absence: 'authoritative', settleAfterMs: 0, everyMs: 30_000 },
    unknown: { retry: 'never' }, approval: null, maxConcurrent: null, compensates: null, compensatedBy: null, ...more,
  };
}

export interface ApplicationWorld {
  /** DSN without the proxy. */
  dsn: string;
  proxy: PgProxy;
  databases: ReturnType<typeof createDatabases>;
  pool: ReturnType<typeof createPool>;
  happened(key: string): Promise<number>;
  stop(): Promise<void>;
}

/** A database with the migrated schema and `TABLE`, reached by way of a proxy. */
export async function startApplication(): Promise<ApplicationWorld> {
  const database = await freshDatabase();
  const proxy = await startPgProxy(database.dsn);
  const pool = createPool({ dsn: database.dsn, max: 4 });
  const databases = createDatabases({ max: 5 });
  await pool.query(TABLE);
  return {
    dsn: database.dsn, proxy, databases, pool,
    happened: async (key) => (await pool.query('select from public.booking where key = $1', [key])).rowCount ?? 0,
    stop: async () => {
      await databases.close();
      await pool.end();
      await proxy.stop();
      await database.drop();
    },
  };
}
