import { isGrpcServiceError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createPool } from '../store/pool.js';
import { StackError, reasonOf } from './errors.js';
import { reachTemporal } from './temporal/ready.js';

/** gRPC's number for "not found": the server is there, the namespace is not. */
const NOT_FOUND = 5;

/** A Temporal that the environment names (I3, I7); null when TEMPORAL_ADDRESS is not set. Throws `StackError` when it does not answer. */
export async function givenTemporal(env: NodeJS.ProcessEnv): Promise<{ address: string; namespace: string } | null> {
  const address = env['TEMPORAL_ADDRESS'];
  if (address === undefined || address === '') return null;
  const named = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars: named });
  try {
    await reachTemporal(connectionOptions, namespace);
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) {
      throw new StackError(`Temporal at ${address} (TEMPORAL_ADDRESS) has no namespace "${namespace}". Create it ("temporal operator namespace create ${namespace}"), or set TEMPORAL_NAMESPACE.`, 2);
    }
    throw new StackError(
      `Temporal at ${address} (TEMPORAL_ADDRESS), namespace "${namespace}", cannot be used: ${reasonOf(error)}\n`
        + 'Start it, correct the TEMPORAL_* settings, or unset TEMPORAL_ADDRESS to let Holdfast start one.',
    );
  }
  return { address, namespace };
}

const DSN_NAMES = ['POSTGRES_ORCH_DSN', 'POSTGRES_MEMORY_DSN'] as const;

/** A PostgreSQL that the environment names; null when it names none. Two names must mean one database. Errors never show the DSN. */
export async function givenPostgres(env: NodeJS.ProcessEnv): Promise<string | null> {
  const set = DSN_NAMES.map((name) => ({ name, dsn: env[name] ?? '' })).filter(({ dsn }) => dsn !== '');
  const [first, second] = set.map(({ name, dsn }) => ({ name, dsn, database: databaseOf(name, dsn) }));
  if (first === undefined) return null;
  if (second !== undefined && second.database !== first.database) {
    throw new StackError(
      `${first.name} and ${second.name} name different databases (${first.database} and ${second.database}). Set one of them, or both to the same.`,
      2,
    );
  }
  await reachPostgres(first.name, first.dsn, first.database);
  return first.dsn;
}

function databaseOf(name: string, dsn: string): string {
  const url = URL.canParse(dsn) ? new URL(dsn) : null;
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new StackError(`${name} is not a PostgreSQL address. It must look like postgresql://USER:PASSWORD@HOST:5432/DATABASE.`, 2);
  }
  const host = url.hostname === '' ? (url.searchParams.get('host') ?? 'localhost') : url.hostname;
  return `${host}:${url.port === '' ? '5432' : url.port}${url.pathname}`;
}

async function reachPostgres(name: string, dsn: string, database: string): Promise<void> {
  const pool = createPool({ dsn, max: 1 });
  try {
    await pool.query('select 1');
  } catch (error) {
    throw new StackError(
      `PostgreSQL at ${database} (${name}) cannot be used: ${reasonOf(error)}\nStart it, correct ${name}, or unset it to let Holdfast start one.`,
    );
  } finally {
    await pool.end();
  }
}
