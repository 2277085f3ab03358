import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { ROOT, sourceFiles } from '../support/architecture.js';
import { freshDatabase } from '../support/database.js';

const PRODUCT = /^(?!test\/|bench\/).*\.(ts|mjs)$/;

let pool: Pool;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await freshDatabase();
  drop = database.drop;
  pool = createPool({ dsn: database.dsn, max: 1 });
});

afterAll(async () => {
  await pool?.end();
  await drop?.();
});

it('C13: no function depends on the search_path of the session that calls it', async () => {
  const { rows } = await pool.query<{ name: string; settings: string[] | null }>(
    `select proname as name, proconfig as settings from pg_proc where pronamespace = 'holdfast'::regnamespace order by proname`,
  );
  expect(rows.map(({ name }) => name)).toContain('ledger_guard');
  expect(rows.filter(({ settings }) => settings?.includes('search_path=holdfast, pg_temp') !== true)).toEqual([]);
});

it('C13: every statement names the schema of its tables itself, so that it means the same in any session of a pooler', () => {
  const made = sourceFiles(/^store\/(migrations\/.*\.sql|migrate\.ts)$/).flatMap((file) => [...read(file).matchAll(/create table (?:if not exists )?(?:holdfast\.)?(\w+)/g)].map((match) => match[1]));
  expect(made).toContain('ledger_entry');
  expect(made).toContain('migration');
  const loose = new RegExp(`\\b(?:from|join|update|insert into|delete from)\\s+(?:${made.join('|')})\\b(?=[\\s'\`,)])`, 'g');
  const found = sourceFiles(PRODUCT).flatMap((file) => statements(read(file)).flatMap((text) => [...text.matchAll(loose)].map((match) => `${file}: ${match[0]}`)));
  expect(found).toEqual([]);
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Texts between quotes that look like SQL. */
function statements(code: string): string[] {
  return [...code.matchAll(/`[^`]*`|'[^'\n]*'/g)].map((match) => match[0]).filter((text) => /^.\s*(select|insert|update|delete|with)\b/.test(text));
}
