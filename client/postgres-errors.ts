import { NotCanonicalError } from '../domain/canonical.js';
import { HoldfastError } from './errors.js';

/** Codes of the operating system and of PostgreSQL (SQLSTATE) for a server that is not there or not yet ready. */
const AWAY = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EPIPE', '57P01', '57P02', '57P03', '08006', '08001', '08003', '53300'];
const DENIED = ['28P01', '28000', '3D000'];
const NO_SCHEMA = ['42P01', '3F000', '42703', '42883'];

/**
 * Turns what PostgreSQL throws into an error that says what to do; anything else passes unchanged.
 * The address is shown, user and password never are.
 */
export function translateStoreError(error: unknown, dsn: string): unknown {
  if (error instanceof HoldfastError) return error;
  if (error instanceof NotCanonicalError) return new HoldfastError('invalid_input', `The input cannot be stored: ${error.message}.`, { cause: error });
  const code = codeOf(error);
  const where = `PostgreSQL at ${addressOf(dsn)}`;
  if (isStoreAway(error)) {
    return new HoldfastError('unreachable', `${where} cannot be reached (${code}). Start the stack with "holdfast dev", or set POSTGRES_ORCH_DSN to a running server.`, { cause: error });
  }
  if (DENIED.includes(code)) return new HoldfastError('unreachable', `${where} refused the connection (${code}). Check user, password and database in POSTGRES_ORCH_DSN.`, { cause: error });
  if (NO_SCHEMA.includes(code)) return new HoldfastError('configuration', `${where} does not have the current schema. Run "holdfast migrate".`, { cause: error });
  return error;
}

/** PostgreSQL is not there now and may be back soon: asking again can help. */
export function isStoreAway(error: unknown): boolean {
  return AWAY.includes(codeOf(error)) || isTimeout(error);
}

/** Host, port and database of a DSN, for messages. */
export function addressOf(dsn: string): string {
  try {
    const url = new URL(dsn);
    return `${url.hostname}:${url.port === '' ? '5432' : url.port}${url.pathname}`;
  } catch {
    return 'the configured address';
  }
}

/** A failed connection to several addresses hides its codes in an AggregateError. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'no answer';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout exceeded when trying to connect|timeout expired|Connection terminated/i.test(error.message);
}
