import { clampMessage } from '../../domain/failure.js';

/**
 * SQLSTATE classes that say something of the server or of the moment, not of the statement: connection, resources, deadlocks and serialisation,
 * time limits, shutdown, login. The same call may well work later (D35). 25006: the server is read only, for instance during a fail-over; 72000: its
 * snapshot became too old; HV00N: a foreign server cannot be reached.
 */
const PASSING = /^(08|28|3D|40|53|55|57|58|72|F0|XX|25006|25P|HV00N)/;

/** Whether the database refused the statement itself: bad data, a broken rule, an exception of a trigger, a wrong statement, a missing right. */
export function refusedBySql(error: Error): boolean {
  const code = sqlState(error);
  return code !== null && !PASSING.test(code);
}

function sqlState(error: Error): string | null {
  const code: unknown = 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** The database's own words, without `detail`, which may show other people's rows; of a network error only its code, which names no address. */
export function sqlMessage(error: Error): string {
  const state = sqlState(error);
  if (state !== null) return clampMessage(`${error.message} (SQLSTATE ${state})`);
  const code: unknown = 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : clampMessage(error.message);
}
