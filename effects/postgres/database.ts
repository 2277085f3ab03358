import type { JsonObject } from '../../contracts/json.js';
import type { Json } from '../../contracts/json.js';
import type { Attempt, Judged, Sql, SqlAnswer, SqlValue } from '../../contracts/sql.js';

/** `timeoutMs` bounds each statement at the server, `signal` ends the call. */
export interface SqlLimits {
  timeoutMs: number;
  signal: AbortSignal;
}

/** What the adapter needs of databases; store/application has the SQL of it. */
export interface ApplicationDatabases {
  /** Runs a change and writes the marker of its key in one transaction; a key that has one gets the stored result (D14, D18). */
  once(dsn: string, call: { key: string; args: JsonObject }, limits: SqlLimits, work: (sql: Sql) => Promise<Judged>): Promise<Attempt<Judged | { kind: 'conflict'; message: string }>>;
  /** Looks for a marker. `busy`: a transaction with this key is under way. `no_table`: no effect was ever begun in this database. */
  find(dsn: string, key: string, limits: SqlLimits): Promise<Attempt<{ kind: 'found'; externalId: string | null; result: Json } | { kind: 'absent' | 'busy' | 'no_table' }>>;
  /** One query in a read-only transaction. */
  read(dsn: string, query: { text: string; values: SqlValue[] }, limits: SqlLimits): Promise<Attempt<SqlAnswer>>;
}

export interface PostgresContext {
  secrets: (envName: string) => string | undefined;
  databases: ApplicationDatabases;
  /** The ledger's own database, for questions about effects in it. */
  ledgerDsn: string;
}

/** A setting of ours that is missing or unusable; its message never holds the value. */
export class DsnProblem extends Error {}

/** The DSN of an effect's database. Throws `DsnProblem` that names the variable. */
export function dsnOf(context: PostgresContext, effect: { name: string; postgres: { dsnEnv: string | null } }): string {
  const { dsnEnv } = effect.postgres;
  if (dsnEnv === null) return context.ledgerDsn;
  const dsn = context.secrets(dsnEnv);
  if (dsn === undefined || dsn === '') throw new DsnProblem(`effect "${effect.name}": environment variable ${dsnEnv} is not set; it must hold the DSN of the database`);
  if (!/^postgres(ql)?:\/\/\S+$/.test(dsn) || !URL.canParse(dsn)) throw new DsnProblem(`effect "${effect.name}": environment variable ${dsnEnv} must hold an address such as postgres://user:password@host:5432/database`);
  return dsn;
}
