import { inject } from 'vitest';
import { createPool } from '../../store/pool.js';
import { uniqueName } from './names.js';
import { TEMPLATE } from './stack.js';

/** A database of the caller's own with the migrated schema. Call `drop` in `afterAll`; it also ends connections that are still open. */
export async function freshDatabase(): Promise<{ dsn: string; drop(): Promise<void> }> {
  const name = uniqueName('test').replaceAll('-', '_');
  await administer(`create database ${name} template ${TEMPLATE}`);
  const dsn = new URL(inject('postgresDsn'));
  dsn.pathname = `/${name}`;
  return { dsn: dsn.href, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

async function administer(sql: string): Promise<void> {
  const pool = createPool({ dsn: inject('postgresDsn'), max: 1 });
  await pool.query(sql).finally(() => pool.end());
}
