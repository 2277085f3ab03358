import type { ConfigProblem } from './error.js';
import { ConfigError, must } from './error.js';
import { check } from './issues.js';
import type { Env } from './substitute.js';
import { readTemporal } from './temporal.js';
import type { TemporalSettings } from './temporal.js';
import { databaseOf, variablesSchema } from './variables.js';
import type { Variables } from './variables.js';

/** What a process needs to know of its surroundings. Holds secrets (`postgres.dsn`, `temporal.apiKey`): print it with `describeConfig` only. */
export interface Settings {
  temporal: TemporalSettings;
  postgres: { dsn: string; poolMax: number };
  taskQueue: string;
  /** The worker's build in a Temporal worker deployment; null: no worker versioning (D34). */
  build: { deployment: string; id: string } | null;
  api: { host: string; port: number; url: string };
  auth: 'dev';
  logLevel: Variables['HOLDFAST_LOG_LEVEL'];
}

/** What a running `holdfast dev` says of itself in `.holdfast/dev.json`. */
export interface DevAddresses {
  temporalAddress: string;
  namespace: string;
  dsn: string;
  taskQueue: string;
  apiUrl: string | null;
}

const DEFAULT_DSN = 'postgres://127.0.0.1:5432/holdfast';
const DEFAULT_TASK_QUEUE = 'holdfast';

/** Environment first, then a running `holdfast dev`, then defaults. Throws `ConfigError` that names the variable (I5, I7, W15). */
export function readSettings(env: Env, devState: DevAddresses | null): Settings {
  const given = Object.fromEntries(Object.keys(variablesSchema.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const variables = must(check(variablesSchema, given, 'environment'));
  const { HOLDFAST_API_HOST: host, HOLDFAST_API_PORT: port } = variables;
  const moved = given.HOLDFAST_API_HOST !== undefined || given.HOLDFAST_API_PORT !== undefined;
  const ownUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    temporal: readTemporal(env, devState),
    postgres: { dsn: chooseDsn(variables) ?? devState?.dsn ?? DEFAULT_DSN, poolMax: variables.MEMORY_PG_POOL_MAX },
    taskQueue: variables.HOLDFAST_TASK_QUEUE ?? devState?.taskQueue ?? DEFAULT_TASK_QUEUE,
    build: variables.HOLDFAST_BUILD_ID === undefined ? null : { deployment: variables.HOLDFAST_DEPLOYMENT, id: variables.HOLDFAST_BUILD_ID },
    api: { host, port, url: moved ? ownUrl : (devState?.apiUrl ?? ownUrl) },
    auth: variables.HOLDFAST_AUTH,
    logLevel: variables.HOLDFAST_LOG_LEVEL,
  };
}

/** In `dev` auth anybody who reaches the API is believed, so it must not listen beyond this machine (I9). */
export function requireLoopback({ auth, api: { host } }: Settings): void {
  if (/^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)) return;
  throw new ConfigError([{ where: 'environment', key: 'HOLDFAST_API_HOST', value: JSON.stringify(host), message: `auth mode "${auth}" listens on loopback only; use 127.0.0.1, ::1 or localhost` }]);
}

function chooseDsn({ POSTGRES_ORCH_DSN: orch, POSTGRES_MEMORY_DSN: memory }: Variables): string | undefined {
  if (orch !== undefined && memory !== undefined && databaseOf(orch) !== databaseOf(memory)) {
    const problem: ConfigProblem = {
      where: 'environment', key: 'POSTGRES_MEMORY_DSN', message: `names the database ${databaseOf(memory)}, but POSTGRES_ORCH_DSN names ${databaseOf(orch)}; both must be the same, or set only one`,
    };
    throw new ConfigError([problem]);
  }
  return orch ?? memory;
}
