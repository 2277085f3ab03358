import type { TestProject } from 'vitest/node';
import { startPostgres, type Postgres } from '../../dev/postgres.js';
import { findTemporal } from '../../dev/temporal/find.js';
import { startTemporal } from '../../dev/temporal/start.js';
import { migrate } from '../../store/migrate.js';
import { createPool } from '../../store/pool.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** gRPC address of the run's Temporal, namespace `default`. */
    temporalAddress: string;
    /** Administrative address of the run's PostgreSQL. Tests work in clones of its template, see database.ts. */
    postgresDsn: string;
    /** Path of the Temporal CLI, for tests that start a server of their own. */
    temporalBinary: string;
  }
}

/** Database that holds the migrated schema; `freshDatabase` clones it. */
export const TEMPLATE = 'holdfast_template';

/** One real Temporal in memory and one throw-away PostgreSQL for the whole run, found as in I3. The environment's own servers are left alone. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const [temporal, postgres] = await Promise.allSettled([ownTemporal(log), ownPostgres(log)]);
  const stop = async () => {
    await Promise.all([temporal, postgres].map((part) => (part.status === 'fulfilled' ? part.value.stop() : undefined)));
  };
  if (temporal.status === 'fulfilled' && postgres.status === 'fulfilled') {
    project.provide('temporalAddress', temporal.value.address);
    project.provide('temporalBinary', temporal.value.binary);
    project.provide('postgresDsn', postgres.value.dsn);
    return stop;
  }
  await stop();
  throw [temporal, postgres].find((part) => part.status === 'rejected')?.reason;
}

async function ownTemporal(log: (line: string) => void): Promise<{ address: string; binary: string; stop(): Promise<void> }> {
  const binary = await findTemporal({ env: process.env, log });
  const server = await startTemporal({ binary, dataFile: null, namespace: 'default', env: process.env, log, ui: false });
  return { address: server.address, binary, stop: server.stop };
}

async function ownPostgres(log: (line: string) => void): Promise<Postgres> {
  const server = await startPostgres({ dataDir: null, log });
  try {
    await makeTemplate(server.dsn);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Makes the database that `freshDatabase` clones. */
export async function makeTemplate(dsn: string): Promise<void> {
  const pool = createPool({ dsn, max: 1 });
  await pool.query(`create database ${TEMPLATE}`).finally(() => pool.end());
  const template = new URL(dsn);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
}
