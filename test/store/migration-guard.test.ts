import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { loadDefinition } from '../../store/definition.js';
import { freshDatabase } from '../support/database.js';
import { seedTurn } from './views-seed.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 2 });
  await seedTurn(pool, { id: 't' });
  await pool.query(`insert into holdfast.definition (digest, agent, body) values ('one', 'main', '{}'), ('two', 'main', '{}')`);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

it.each([
  ['effect', 'pending', 'ok'], ['effect', 'dispatched', 'HF009'], ['effect', 'unknown', 'HF009'], ['child', 'pending', 'ok'], ['child', 'dispatched', 'ok'],
])('D13, D34: the definition of %s that is %s: %s', async (kind, state, expected) => {
  const key = `t.${kind}.${state}`;
  await pool.query(
    `insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, state, args, args_digest, definition_digest) values ($1, 't', 1, 0, $2, 'reserve', $3, '{}', 'd', 'one')`, [key, kind, state]);
  const changed = pool.query(`update holdfast.ledger_entry set definition_digest = 'two' where key = $1`, [key]).then(() => 'ok', (error: { code: string }) => error.code);
  expect(await changed).toBe(expected);
});

it('D34: the record of a migration never changes', async () => {
  await pool.query(`insert into holdfast.turn_migration (id, turn_id, from_digest, to_digest, by, closed, reproposed) values ('m', 't', 'one', 'two', 'olga', '[]', '[]')`);
  await expect(pool.query(`update holdfast.turn_migration set by = 'other'`)).rejects.toMatchObject({ code: 'HF008' });
});

it.each([['three', /is not stored|not stored/], ['one', /cannot be used by this build/]])('D34: reading the definition %s says that it needs a migration, and what to do', async (digest, reason) => {
  await expect(loadDefinition(pool, digest)).rejects.toMatchObject({ name: 'NeedsMigration', message: expect.stringMatching(reason) });
  await expect(loadDefinition(pool, digest)).rejects.toThrow(/turn migrate/);
});
