import { Client } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { WorkerOptions as TemporalWorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../activities/index.js';
import type { ActivityDeps } from '../activities/deps.js';
import type { CompiledAgents } from '../config/compile.js';
import type { Settings } from '../config/settings.js';
import type { FindFunctions } from '../effects/function/adapter.js';
import { publishDefinitions, saveDefinitions } from '../store/definition.js';
import { createDatabases } from '../store/application/databases.js';
import { createPool } from '../store/pool.js';
import { createAdapters } from './adapters.js';
import { BUNDLE_PATH } from './bundle.js';
import { loadChildFunctions } from './child-functions.js';
import { createDeps } from './deps.js';
import { loadFunctions } from './load-functions.js';
import { Opened } from './opened.js';
import { ensureSweepSchedule } from './sweep-schedule.js';
import { wakeUnmigrated } from './wake-unmigrated.js';

export interface WorkerOptions {
  settings: Settings;
  compiled: CompiledAgents;
  log: Logger;
  secrets(envName: string): string | undefined;
  /** Lets a test listen at probe points or replace a part of the outside world. */
  adjust?(deps: ActivityDeps): ActivityDeps;
}

export interface RunningWorker {
  /** Ends when the worker has stopped, with the error if it failed. */
  done: Promise<void>;
  /** Stops taking work, lets what runs end, and closes connections. */
  stop(): Promise<void>;
}

/** Time that running activities get to end when the worker is asked to stop. */
const DRAIN = '30s';

const POLLERS = { type: 'autoscaling', minimum: 2, initial: 2, maximum: 20 } as const;

/**
 * Publishes the agents' definitions and starts a worker; resolves when it polls (composition root). Throws `ConfigError` when the module of an
 * effect cannot be used, before anything is connected.
 */
export async function runWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { compiled } = options;
  quietRuntime(options.log);
  const functions = await loadFunctions(compiled);
  const functionOf = await loadChildFunctions(compiled);
  const opened = new Opened();
  try {
    return await start(options, opened, { functions, functionOf });
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function start(options: WorkerOptions, opened: Opened, { functions, functionOf }: Functions): Promise<RunningWorker> {
  const { settings, compiled, secrets, log } = options;
  const ledgerDsn = settings.postgres.dsn;
  const pool = createPool({ dsn: ledgerDsn, max: settings.postgres.poolMax });
  opened.add(() => pool.end());
  const databases = createDatabases({ max: settings.postgres.poolMax });
  opened.add(() => databases.close());
  const connection = await NativeConnection.connect(connectionOptions(settings));
  opened.add(() => connection.close());
  await saveDefinitions(pool, compiled.definitions);
  await publishDefinitions(pool, compiled.current);
  const client = new Client({ connection, namespace: settings.temporal.namespace });
  await ensureSweepSchedule(client, settings.taskQueue);
  const adapters = createAdapters({ secrets, functions, log, databases, ledgerDsn });
  opened.add(() => adapters.close());
  const worker = await createWorker(options, connection, createDeps({ pool, databases, ledgerDsn, client, taskQueue: settings.taskQueue, log, secrets, functionOf, adapters: adapters.adapters }));
  void adapters.inspect([...new Map(compiled.definitions.flatMap(({ definition }) => [...definition.effects, ...definition.compensations]).map((effect) => [effect.name, effect])).values()]);
  const running = run(worker, opened);
  await wakeUnmigrated(client, pool, log);
  return running;
}

interface Functions {
  functions: FindFunctions;
  functionOf: Awaited<ReturnType<typeof loadChildFunctions>>;
}

async function createWorker({ settings, adjust }: WorkerOptions, connection: NativeConnection, deps: ActivityDeps): Promise<Worker> {
  return Worker.create({
    connection,
    namespace: settings.temporal.namespace,
    taskQueue: settings.taskQueue,
    workflowBundle: { codePath: BUNDLE_PATH },
    activities: createActivities(adjust?.(deps) ?? deps),
    ...versioning(settings),
    // A killed worker's workflow tasks move to another one after this time (D1).
    stickyQueueScheduleToStartTimeout: '1s',
    // Every poll that a frozen worker leaves open takes one task with it until its timeout: as few as the load needs (D1).
    workflowTaskPollerBehavior: POLLERS,
    activityTaskPollerBehavior: POLLERS,
    shutdownGraceTime: DRAIN,
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  });
}

/**
 * A conversation moves to the current build at its next task (`AUTO_UPGRADE`): a turn may wait for a person for weeks, and its build would have
 * to be kept running as long. That is safe because what a turn means is pinned by its definition, and because every build replays the
 * recorded histories of the builds before it (D34).
 */
function versioning({ build }: Settings): Pick<TemporalWorkerOptions, 'workerDeploymentOptions'> {
  if (build === null) return {};
  return {
    workerDeploymentOptions: { version: { deploymentName: build.deployment, buildId: build.id }, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

function run(worker: Worker, opened: Opened): RunningWorker {
  const done = worker.run().finally(() => opened.close());
  done.catch(() => undefined);
  return {
    done,
    stop: async () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}

function connectionOptions({ temporal }: Settings) {
  return { address: temporal.address, ...(temporal.apiKey === undefined ? {} : { apiKey: temporal.apiKey }), ...(temporal.tls === undefined ? {} : { tls: temporal.tls }) };
}

/** Sends the SDK's own log to ours; below a warning it is of no use to an operator. A runtime that the application has installed is left alone. */
function quietRuntime(log: Logger): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (level === 'ERROR') log.error(meta ?? {}, message);
    else log.warn(meta ?? {}, message);
  });
  try {
    Runtime.install({ logger, shutdownSignals: [] });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
