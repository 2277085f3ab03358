import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { HoldfastClient } from '../../client/index.js';
import type { TurnView } from '../../contracts/turn.js';
import { createPool } from '../../store/pool.js';
import type { Pool } from '../../store/pool.js';
import { freshDatabase } from './database.js';
import { freshTaskQueue } from './names.js';
import { unreplayable } from './replayed.js';
import { waitFor } from './wait.js';

const WORKER = fileURLToPath(new URL('./worker-process.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where a worker interrupts itself, see activities/deps.ts. `HOLD`: what has come to the point stands there until `release`. */
export interface Interrupt {
  at: string;
  signal: 'SIGKILL' | 'SIGSTOP' | 'HOLD';
  /** Calls that must have come to the point before; default 1. */
  count?: number;
}

export interface TestWorker {
  pid: number;
  /** Resolves when the interrupt point was reached, with the key. */
  reached: Promise<string>;
  exited: Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Lets go on what a `HOLD` keeps. */
  release(): void;
  stop(): Promise<void>;
}

/** One database, one task queue and one configuration on the run's real Temporal; workers are processes of their own. */
export interface Engine {
  client: HoldfastClient;
  temporal: Client;
  pool: Pool;
  env: NodeJS.ProcessEnv;
  taskQueue: string;
  worker(interrupt?: Interrupt): Promise<TestWorker>;
  /** Submits and waits until the turn ends or needs a person. */
  send(text: string, options?: { thread?: string; requestId?: string; agent?: string; as?: string; mode?: 'queue' | 'steer' }): Promise<TurnView>;
  settled(turnId: string, timeoutMs?: number): Promise<TurnView>;
  until(turnId: string, status: string): Promise<TurnView>;
  /** Stops and removes everything. Fails when a run of this engine cannot be replayed. */
  close(): Promise<void>;
}

/** Servers to use instead of those of the run; see freshDatabase for `postgresDsn`. */
export interface Servers {
  temporalAddress: string;
  postgresDsn: string;
}

export async function startEngine(toml: string, extraEnv: Record<string, string> = {}, servers?: Servers): Promise<Engine> {
  const database = await freshDatabase(servers?.postgresDsn);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const config = join(folder, 'holdfast.toml');
  await writeFile(config, toml);
  const taskQueue = freshTaskQueue();
  const address = extraEnv.TEMPORAL_ADDRESS ?? servers?.temporalAddress ?? inject('temporalAddress');
  const env: NodeJS.ProcessEnv = {
    ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default', POSTGRES_ORCH_DSN: database.dsn, HOLDFAST_TASK_QUEUE: taskQueue, CONFIG: config, ...extraEnv,
  };
  const client = await HoldfastClient.connect({
    settings: { temporal: { address, namespace: 'default' }, postgres: { dsn: database.dsn, poolMax: 5 }, taskQueue },
  });
  const connection = await Connection.connect({ address });
  const temporal = new Client({ connection, namespace: 'default' });
  const pool = createPool({ dsn: database.dsn, max: 2 });
  const workers: TestWorker[] = [];

  return {
    client, pool, env, taskQueue, temporal,
    worker: async (interrupt) => {
      const worker = await startWorker(env, interrupt);
      workers.push(worker);
      return worker;
    },
    send: async (text, { thread, requestId, agent = 'main', as = 'tester', mode } = {}) => {
      const submitted = await client.submit({ agent, threadId: thread, requestId, text, as, ...(mode === undefined ? {} : { mode }) });
      return (await client.waitForTurn(submitted.turnId, { timeoutMs: 40_000 })).turn;
    },
    settled: async (turnId, timeoutMs = 40_000) => (await client.waitForTurn(turnId, { timeoutMs })).turn,
    until: (turnId, status) =>
      waitFor(async () => { const turn = await client.turn(turnId); return turn.status === status && turn; }, { what: `turn ${turnId} to be ${status}`, timeoutMs: 40_000 }),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      const problems = await unreplayable(temporal, taskQueue);
      await client.close();
      await pool.end();
      await connection.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
      if (problems.length > 0) throw new Error(`these runs cannot be replayed:\n${problems.join('\n')}`);
    },
  };
}

async function startWorker(env: NodeJS.ProcessEnv, interrupt: Interrupt | undefined): Promise<TestWorker> {
  const child = spawn(process.execPath, [WORKER], {
    cwd: ROOT, env: { ...env, ...(interrupt === undefined ? {} : { INTERRUPT: `${interrupt.at}:${interrupt.signal}:${interrupt.count ?? 1}` }) }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  const { ready, reached } = listen(child);
  await Promise.race([ready, exited.then(() => { throw new Error('the worker ended before it was ready'); })]);
  return {
    pid: child.pid!, reached, exited,
    signal: (signal) => void child.kill(signal),
    release: () => void child.kill('SIGUSR2'),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function listen(child: ChildProcess): { ready: Promise<void>; reached: Promise<string> } {
  const lines = createInterface({ input: child.stdout! });
  let isReady: () => void;
  let hasReached: (key: string) => void;
  const ready = new Promise<void>((resolve) => { isReady = resolve; });
  const reached = new Promise<string>((resolve) => { hasReached = resolve; });
  lines.on('line', (line) => {
    // Temporal's native part writes its own warnings to stdout.
    if (!line.startsWith('{')) return void process.stderr.write(`${line}\n`);
    const said = JSON.parse(line) as { ready?: boolean; key?: string };
    if (said.ready === true) isReady();
    else hasReached(said.key ?? '');
  });
  return { ready, reached };
}
