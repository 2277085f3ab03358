import type { CustomTypesConfig, QueryArrayConfig } from 'pg';
import type { Attempt, Judged, Sql } from '../../contracts/sql.js';
import type { Pool, PoolClient } from '../pool.js';

/** Limits of a transaction: `timeoutMs` for each statement and each pause, by the server; `signal` ends the connection. */
export interface Limits {
  timeoutMs: number;
  signal: AbortSignal;
  readOnly?: boolean;
}

/**
 * Errors by which a server refuses a commit and has undone it. Every other failure of a commit leaves its outcome open: 40003 says so itself, and a
 * transaction timeout (25P04) that was due before the commit may be told after it.
 */
const REFUSED_COMMIT = /^(0A|21|22|23|25(?!P04)|2D|40(?!003)|42|44|P0)/;

/**
 * One transaction, committed when `work` says so. It never throws: an error, or the signal, before the commit was sent leaves nothing behind;
 * after that only the server's own refusal proves the same (D10, D18).
 */
export async function attempt<T>(pool: Pool, limits: Limits, work: (client: PoolClient) => Promise<{ commit: boolean; value: T }>): Promise<Attempt<T>> {
  let connection: Connection;
  try {
    connection = await connect(pool, limits.signal);
  } catch (error) {
    return { kind: 'undone', error: error as Error };
  }
  const { client, close } = connection;
  let committing = false;
  try {
    await begin(client, limits);
    const { commit, value } = await work(client);
    limits.signal.throwIfAborted();
    committing = commit;
    const { command } = await client.query(commit ? 'commit' : 'rollback');
    close();
    if (commit && command !== 'COMMIT') throw Object.assign(new Error('the transaction had already failed'), { code: '25P02' });
    return { kind: 'ended', value };
  } catch (error) {
    // The connection ends with the transaction: what the server has not been told to commit it undoes.
    close(error as Error);
    return { kind: committing && !REFUSED_COMMIT.test(codeOf(error)) ? 'lost' : 'undone', error: error as Error };
  }
}

interface Connection {
  client: PoolClient;
  /** Gives the connection back, or ends it because of an error. Later calls do nothing. */
  close(error?: Error): void;
}

async function connect(pool: Pool, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const connecting = pool.connect();
  const client = await new Promise<PoolClient>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    connecting.then(resolve, reject);
  }).catch((error: unknown) => {
    // It may still come, to nobody.
    connecting.then((late) => late.release(), () => undefined);
    throw error;
  });
  return guarded(client, signal);
}

function guarded(client: PoolClient, signal: AbortSignal): Connection {
  let open = true;
  const close = (error?: Error) => {
    if (!open) return;
    open = false;
    signal.removeEventListener('abort', onAbort);
    // Ends a connection that waits for an answer; its query then fails.
    client.release(error);
    if (error === undefined) client.off('error', ignore);
  };
  const onAbort = () => close(new Error('the call was ended by its time limit'));
  signal.addEventListener('abort', onAbort, { once: true });
  client.on('error', ignore);
  return { client, close };
}

/** A lost connection also fails the query that waits, or the next one. */
function ignore(): void {}

async function begin(client: PoolClient, { timeoutMs, readOnly }: Limits): Promise<void> {
  await client.query(readOnly === true ? 'begin read only' : 'begin');
  // A worker that is frozen between two statements holds no lock for longer than its call may take.
  await client.query(`select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`, [String(Math.max(1, Math.ceil(timeoutMs)))]);
}

/**
 * Runs a change of the application, with what it left for the commit: constraints and triggers that are deferred. The server's time limit does not
 * hold for a commit, so one that sleeps or waits there would keep its locks for as long as it likes.
 */
export async function change(client: PoolClient, work: (sql: Sql) => Promise<Judged>): Promise<Judged> {
  const judged = await work(sqlOf(client));
  if (judged.kind === 'succeeded') await client.query('set constraints all immediate');
  return judged;
}

/** The driver's own conversions lose digits and make objects that are no JSON. */
const AS_TEXT: CustomTypesConfig = { getTypeParser: () => (value: string) => value };

/** `extended`: the protocol that takes one statement only, also without parameters. The driver's types do not know the setting. */
interface ExtendedQuery extends QueryArrayConfig {
  queryMode: 'extended';
}

/** Runs statements of the application, one at a time. */
export function sqlOf(client: PoolClient): Sql {
  return async (text, values) => {
    const query: ExtendedQuery = { text, values, rowMode: 'array', types: AS_TEXT, queryMode: 'extended' };
    const { fields, rows, rowCount, command } = await client.query<(string | null)[]>(query);
    return { columns: fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rows, count: Math.max(rowCount ?? 0, rows.length), command };
  };
}

/** SQLSTATE of a database error, or an empty text. */
export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}
