import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { compileAgents } from '../../config/compile.js';
import { loadConfig } from '../../config/load.js';
import { createPool, type Pool } from '../../store/pool.js';
import { runWorker } from '../../worker/run.js';
import { waitFor } from '../support/wait.js';

let pool: Pool;
const name = `unmade_${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  pool = createPool({ dsn: inject('postgresDsn'), max: 1 });
  await pool.query(`create database ${name}`);
});

afterAll(async () => {
  await pool?.query(`drop database if exists ${name} with (force)`);
  await pool?.end();
});

it('D35, C13: a worker that cannot start because its schema was never made says so and leaves no connection open', async () => {
  const dsn = new URL(inject('postgresDsn'));
  dsn.pathname = `/${name}`;
  const settings = {
    temporal: { address: inject('temporalAddress'), namespace: 'default' }, postgres: { dsn: dsn.href, poolMax: 3 }, taskQueue: name, build: null,
    api: { host: '127.0.0.1', port: 0, url: '' }, auth: 'dev' as const, logLevel: 'silent' as const,
  };
  const compiled = compileAgents(loadConfig({ file: undefined, cwd: process.cwd(), env: {} }));
  await expect(runWorker({ settings, compiled, log: pino({ level: 'silent' }), secrets: () => undefined })).rejects.toThrow('does not exist');
  const open = async () => (await pool.query<{ open: number }>('select count(*)::int as open from pg_stat_activity where datname = $1', [name])).rows[0]?.open;
  await waitFor(async () => (await open()) === 0, { what: 'every connection to be closed' });
});
