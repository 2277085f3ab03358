import type { PostgresEffect } from '../../contracts/effect.js';
import type { Attempt, InLedger, Judged } from '../../contracts/sql.js';
import { STATEMENT_WORDS } from '../../contracts/sql-template.js';
import type { EffectCall, PerformResult } from '../types.js';
import { dsnOf, DsnProblem } from './database.js';
import type { PostgresContext } from './database.js';
import { refusedBySql, sqlMessage } from './sql-error.js';
import { fillStatement, runStatement } from './statement.js';

/**
 * One transaction (D18): with the ledger's record of it in the ledger's own database, with a marker row in any other. What was not committed is
 * undone, so only a lost answer to the commit is uncertain.
 */
export async function performPostgres(context: PostgresContext, call: EffectCall<PostgresEffect>, signal: AbortSignal, ledger: InLedger | undefined): Promise<PerformResult> {
  const { effect, key, args } = call;
  const statement = fillStatement(effect.postgres.statement, STATEMENT_WORDS, key, args);
  if (!statement.ok) return notSent(`effect "${effect.name}": ${statement.problem}`);
  if (effect.postgres.dsnEnv === null) {
    if (ledger === undefined) return notSent(`effect "${effect.name}" is in the ledger's own database and needs its transaction`);
    return judge(await ledger((sql) => runStatement(sql, effect, statement)));
  }
  try {
    const limits = { timeoutMs: effect.timeoutMs, signal };
    return judge(await context.databases.once(dsnOf(context, effect), { key, args }, limits, (sql) => runStatement(sql, effect, statement)));
  } catch (error) {
    if (error instanceof DsnProblem) return notSent(error.message);
    throw error;
  }
}

function judge(attempt: Attempt<Judged | { kind: 'conflict'; message: string }>): PerformResult {
  if (attempt.kind === 'ended') return attempt.value;
  const said = sqlMessage(attempt.error);
  if (attempt.kind === 'lost') return { kind: 'uncertain', message: `the commit was not answered: ${said}`, retryAfterMs: null };
  if (refusedBySql(attempt.error)) return { kind: 'rejected', result: null, message: `the database refused it, nothing was changed: ${said}` };
  return notSent(`nothing was changed: ${said}`);
}

function notSent(message: string): PerformResult {
  return { kind: 'not_sent', message, retryAfterMs: null };
}
