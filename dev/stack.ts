import { join } from 'node:path';
import { claimStateDir } from './claim.js';
import { givenPostgres, givenTemporal } from './given.js';
import { startPostgres } from './postgres.js';
import { findTemporal } from './temporal/find.js';
import { startTemporal } from './temporal/start.js';

/**
 * `stateDir` is `.holdfast`, made when missing. `memory` "in_memory" makes both servers throw-away: runs that outlive their
 * messages would be of no use (C1). `log` gets one line per step.
 */
export interface StackOptions {
  stateDir: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  memory: 'postgres' | 'in_memory';
}

/** Addresses of everything a worker and an API need. `uiUrl` is null for a Temporal that was given. `dsn` holds a password. */
export interface Stack {
  temporalAddress: string;
  namespace: string;
  uiUrl: string | null;
  dsn: string;
  stop(): Promise<void>;
}

interface Part<T> {
  value: T;
  stop(): Promise<void>;
}

/**
 * Brings up what the environment does not name, in parallel. Throws `StackError`, with nothing left running, when one part fails.
 * `stop` stops what was started here and nothing else.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const release = await claimStateDir(options.stateDir);
  const [temporal, postgres] = await Promise.allSettled([temporalPart(options), postgresPart(options)]);
  const stop = async () => {
    await Promise.all([temporal, postgres].map((part) => (part.status === 'fulfilled' ? part.value.stop() : undefined)));
    await release();
  };
  if (temporal.status === 'fulfilled' && postgres.status === 'fulfilled') return { ...temporal.value.value, dsn: postgres.value.value, stop };
  await stop();
  throw [temporal, postgres].find((part) => part.status === 'rejected')?.reason;
}

const nothingToStop = () => Promise.resolve();

async function temporalPart({ stateDir, env, log, memory }: StackOptions): Promise<Part<Omit<Stack, 'dsn' | 'stop'>>> {
  const given = await givenTemporal(env);
  if (given !== null) {
    log(`Temporal: using ${given.address} (TEMPORAL_ADDRESS)`);
    return { value: { temporalAddress: given.address, namespace: given.namespace, uiUrl: null }, stop: nothingToStop };
  }
  const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
  const binary = await findTemporal({ env, log });
  const dataFile = memory === 'in_memory' ? null : join(stateDir, 'temporal.db');
  const server = await startTemporal({ binary, dataFile, namespace, env, log, logFile: join(stateDir, 'temporal.log') });
  return { value: { temporalAddress: server.address, namespace, uiUrl: server.uiUrl }, stop: server.stop };
}

async function postgresPart({ stateDir, env, log, memory }: StackOptions): Promise<Part<string>> {
  const given = memory === 'in_memory' ? null : await givenPostgres(env);
  if (given !== null) {
    log('PostgreSQL: using the one that the environment names');
    return { value: given, stop: nothingToStop };
  }
  const dataDir = memory === 'in_memory' ? null : join(stateDir, 'postgres');
  const server = await startPostgres({ dataDir, log, logFile: join(stateDir, 'postgres.log') });
  return { value: server.dsn, stop: server.stop };
}
