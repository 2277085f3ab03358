import type { Json } from './json.js';

/** A parameter of a statement: always text (PostgreSQL reads it as what the statement needs) or null. */
export type SqlValue = string | null;

/**
 * What one statement answered. Values are the text that PostgreSQL writes, `type` is the OID of a column. `count`: rows that it returned or
 * changed. `command`: what the server says that it was, for instance `INSERT`.
 */
export interface SqlAnswer {
  columns: { name: string; type: number }[];
  rows: (string | null)[][];
  count: number;
  command: string;
}

/** Runs one statement of the application in an open transaction. Rejects with the error of the database, which has its SQLSTATE as `code`. */
export type Sql = (text: string, values: SqlValue[]) => Promise<SqlAnswer>;

/** What a statement came to, before its transaction ends: only `succeeded` is committed (D25). */
export type Judged =
  | { kind: 'succeeded'; externalId: string | null; result: Json }
  | { kind: 'rejected'; result: Json; message: string };

/**
 * How a transaction ended. `undone`: proven that nothing of it was kept. `lost`: the commit was sent and no answer came, so it may have been kept (D10).
 */
export type Attempt<T> = { kind: 'ended'; value: T } | { kind: 'undone'; error: Error } | { kind: 'lost'; error: Error };

/** Runs a statement in the transaction that also records its success in the ledger (D18). A taken-over or cancelled entry undoes it (D17, D27). */
export type InLedger = (work: (sql: Sql) => Promise<Judged>) => Promise<Attempt<Judged>>;
