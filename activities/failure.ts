import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { CallError, NEEDS_MIGRATION, NeedsMigration, clampMessage } from '../domain/failure.js';
import { budgetHit, budgetText } from '../store/turn/budget.js';
import type { ActivityLog } from './deps.js';

/**
 * SQLSTATE classes that say that the statement itself is wrong: bad data, a broken rule, a rule of ours. Everything else (a failover, a cancelled
 * statement, a missing right) is the server's state, which an operator mends while the step is tried again (D35).
 */
const TERMINAL_SQL = /^(22|23|HF)/;
/** The driver's own words for a connection that ended under a statement or could not be made in time; they carry no code. */
const LOST_CONNECTION = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;
/** SQLSTATEs of a server that is going, coming or full. */
const SERVER_AWAY = /^(08|57P0|53300)/;
/** SQLSTATEs of a transaction that was rolled back for others. */
const UNDONE = /^40(001|P01)$/;
const TRANSIENT_NET = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * The only place that turns an error into what Temporal retries or gives up (D35). `CallError` carries its class; a time limit of ours
 * (`callSignal`) is retryable; PostgreSQL says it by its code; anything else is a defect of ours and retried within the activity's bounds, in case it was not.
 */
export function toFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  // Trying again cannot help; the workflow waits for a migration or for the definition (D34).
  if (error instanceof NeedsMigration) return ApplicationFailure.create({ type: NEEDS_MIGRATION, message: error.message, nonRetryable: true });
  if (error instanceof CallError) {
    return ApplicationFailure.create({
      type: error.failure,
      message: error.message,
      nonRetryable: error.failure !== 'retryable',
      ...(error.retryAfterMs === null ? {} : { nextRetryDelay: error.retryAfterMs }),
    });
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') return ApplicationFailure.create({ type: 'retryable', message: 'the call did not end within its time limit' });
  const hit = budgetHit(error);
  if (hit !== null) return ApplicationFailure.create({ type: 'terminal', message: budgetText(hit), nonRetryable: true });
  const code = codeOf(error);
  const message = clampMessage(error instanceof Error ? error.message : String(error));
  const fromSql = code !== null && /^[0-9A-Z]{5}$/.test(code);
  if (fromSql && TERMINAL_SQL.test(code)) return ApplicationFailure.create({ type: 'terminal', message: `database: ${message}`, nonRetryable: true });
  return ApplicationFailure.create({ type: fromSql || isStoreAway(error) ? 'retryable' : 'defect', message });
}

/** PostgreSQL cannot be asked now. What the outside world said is a `CallError` and never meant here. */
export function isStoreAway(error: unknown): boolean {
  if (error instanceof CallError || !(error instanceof Error)) return false;
  const code = codeOf(error) ?? '';
  return SERVER_AWAY.test(code) || TRANSIENT_NET.has(code) || LOST_CONNECTION.test(error.message);
}

/** PostgreSQL undid the whole transaction for the sake of others (a deadlock, a serialization failure): the same statement may be made again at once. */
export function isUndone(error: unknown): boolean {
  return error instanceof Error && !(error instanceof CallError) && UNDONE.test(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | null {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

type Activity = (...args: never[]) => Promise<unknown>;

/** Wraps every activity so that only classified failures leave it; what we cannot classify is a defect and logged with its stack. */
export function withFailureMapping<T extends Record<string, Activity>>(activities: T, log: ActivityLog): T {
  const wrapped = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        const failure = toFailure(error);
        if (failure instanceof ApplicationFailure && failure.type === 'defect') log.warn({ activity: name, err: error }, `defect in an activity: ${failure.message}`);
        throw failure;
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}
