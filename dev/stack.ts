import { join } from 'node:path';
import { claimStateDir } from './claim.js';
import { StackError } from './errors.js';
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
  /** Rejects with `StackError` when a server that was started here has ended by itself: it is not kept up as if it worked. */
  lost: Promise<never>;
  stop(): Promise<void>;
}

interface Part<T> {
  value: T;
  lost: Promise<never>;
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
  if (temporal.status === 'fulfilled' && postgres.status === 'fulfilled') {
    return { ...temporal.value.value, dsn: postgres.value.value, lost: unwatched(Promise.race([temporal.value.lost, postgres.value.lost])), stop };
  }
  await stop();
  throw [temporal, postgres].find((part) => part.status === 'rejected')?.reason;
}

const nothingToStop = () => Promise.resolve();
/** A server that was given is not ours to watch. */
const NEVER = new Promise<never>(() => undefined);

/** Nobody may be watching yet, or any more, when it rejects. */
function unwatched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function lostServer(name: string, how: Promise<string>, logFile: string): Promise<never> {
  return unwatched(how.then((ended) => {
    throw new StackError(`${name} ended by itself (${ended}). ${logFile} may say why. Start again: what is stored goes on.`);
  }));
}

async function temporalPart({ stateDir, env, log, memory }: StackOptions): Promise<Part<Omit<Stack, 'dsn' | 'lost' | 'stop'>>> {
  const given = await givenTemporal(env);
  if (given !== null) {
    log(`Temporal: using ${given.address} (TEMPORAL_ADDRESS)`);
    return { value: { temporalAddress: given.address, namespace: given.namespace, uiUrl: null }, lost: NEVER, stop: nothingToStop };
  }
  const namespace = env['TEMPORAL_NAMESPACE'] || 'default';
  const binary = await findTemporal({ env, log });
  const dataFile = memory === 'in_memory' ? null : join(stateDir, 'temporal.db');
  const logFile = join(stateDir, 'temporal.log');
  const server = await startTemporal({ binary, dataFile, namespace, env, log, logFile });
  return { value: { temporalAddress: server.address, namespace, uiUrl: server.uiUrl }, lost: lostServer('Temporal', server.lost, logFile), stop: server.stop };
}

async function postgresPart({ stateDir, env, log, memory }: StackOptions): Promise<Part<string>> {
  const given = memory === 'in_memory' ? null : await givenPostgres(env);
  if (given !== null) {
    log('PostgreSQL: using the one that the environment names');
    return { value: given, lost: NEVER, stop: nothingToStop };
  }
  const dataDir = memory === 'in_memory' ? null : join(stateDir, 'postgres');
  const logFile = join(stateDir, 'postgres.log');
  const server = await startPostgres({ dataDir, log, logFile });
  return { value: server.dsn, lost: lostServer('PostgreSQL', server.lost, logFile), stop: server.stop };
}
