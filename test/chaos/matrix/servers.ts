import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../../dev/postgres.js';
import { findTemporal } from '../../../dev/temporal/find.js';
import { startTemporal } from '../../../dev/temporal/start.js';
import type { Servers } from '../../support/engine.js';
import { makeTemplate } from '../../support/stack.js';

/** Servers of the matrix's own, on disk, that crash and come back at the same address with the same data. */
export interface CrashingServers extends Servers {
  /** Crashes a server, lets `meanwhile` happen while it is away, and brings it back. */
  restart(what: 'postgres' | 'temporal', meanwhile: () => void): Promise<void>;
  stop(): Promise<void>;
}

interface Server {
  pid: number;
  stop(): Promise<void>;
}

export async function startCrashingServers(): Promise<CrashingServers> {
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-chaos-'));
  // The account of PostgreSQL must be able to enter it.
  await chmod(folder, 0o755);
  const binary = await findTemporal({ env: process.env, log });
  const postgresOn = (port?: number) => startPostgres({ dataDir: join(folder, 'postgres'), log, ...(port === undefined ? {} : { port }) });
  const temporalOn = (port?: number) =>
    startTemporal({ binary, dataFile: join(folder, 'temporal.db'), namespace: 'default', env: process.env, log, ui: false, ...(port === undefined ? {} : { port }) });
  const [postgres, temporal] = await Promise.all([postgresOn(), temporalOn()]);
  const running: Record<'postgres' | 'temporal', Server> = { postgres, temporal };
  await makeTemplate(postgres.dsn);
  return {
    postgresDsn: postgres.dsn, temporalAddress: temporal.address,
    restart: async (what, meanwhile) => {
      const server = running[what];
      // SIGQUIT is PostgreSQL's immediate stop: no checkpoint, and recovery at the next start.
      process.kill(server.pid, what === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
      await server.stop();
      meanwhile();
      running[what] = await (what === 'postgres' ? postgresOn(Number(new URL(postgres.dsn).port)) : temporalOn(Number(temporal.address.split(':')[1])));
    },
    stop: async () => {
      await Promise.all(Object.values(running).map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
