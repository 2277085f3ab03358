import { inject } from 'vitest';
import { createPool } from '../../store/pool.js';
import { uniqueName } from './names.js';
import { TEMPLATE } from './stack.js';

/** A database of the caller's own with the migrated schema. Call `drop` in `afterAll`; it also ends connections that are still open. `server`: the administrative address, by default that of the run. */
export async function freshDatabase(server: string = inject('postgresDsn')): Promise<{ dsn: string; drop(): Promise<void> }> {
  const name = uniqueName('test').replaceAll('-', '_');
  await administer(server, `create database ${name} template ${TEMPLATE}`);
  const dsn = new URL(server);
  dsn.pathname = `/${name}`;
  return { dsn: dsn.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) };
}

async function administer(dsn: string, sql: string): Promise<void> {
  const pool = createPool({ dsn, max: 1 });
  await pool.query(sql).finally(() => pool.end());
}
