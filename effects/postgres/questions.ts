import type { PostgresEffect, Question } from '../../contracts/effect.js';
import type { Json, JsonObject } from '../../contracts/json.js';
import { QUERY_WORDS } from '../../contracts/sql-template.js';
import { CallError } from '../../domain/failure.js';
import { storableJson } from '../../domain/text.js';
import { isObject } from '../answer-json.js';
import { expectFields } from '../expect.js';
import type { EffectCall, PreconditionResult, PreviewResult } from '../types.js';
import { dsnOf, DsnProblem } from './database.js';
import type { PostgresContext } from './database.js';
import { rowsOf } from './rows.js';
import { refusedBySql, sqlMessage } from './sql-error.js';
import { fillStatement } from './statement.js';

/** Before and after by a query (D21): columns `before` and `after` if it has them, else its first row is the state before. */
export async function previewPostgres(context: PostgresContext, call: EffectCall<PostgresEffect>, signal: AbortSignal): Promise<PreviewResult> {
  const question = call.effect.approval?.preview ?? null;
  if (question === null) return { kind: 'preview', before: {}, after: call.args };
  const row = (await ask(context, call, question, 'preview', signal))[0] ?? {};
  const before = Object.hasOwn(row, 'before') ? row['before'] : null;
  const after = Object.hasOwn(row, 'after') ? row['after'] : null;
  if (!Object.hasOwn(row, 'before') && !Object.hasOwn(row, 'after')) return { kind: 'preview', before: storableJson(row), after: call.args };
  return { kind: 'preview', before: object(before, 'before', {}), after: object(after, 'after', call.args) };
}

function object(value: Json | undefined, column: string, absent: JsonObject): JsonObject {
  if (value === null || value === undefined) return absent;
  if (!isObject(value)) throw new CallError('terminal', `the column "${column}" of the preview must be a JSON object; use jsonb_build_object or to_jsonb`);
  return storableJson(value);
}

/** The target conditions of an approval, asked again at execution (D25): the query must return a row, and that must hold what is expected. */
export async function preconditionPostgres(context: PostgresContext, call: EffectCall<PostgresEffect>, signal: AbortSignal): Promise<PreconditionResult> {
  const question = call.effect.approval?.precondition ?? null;
  if (question === null) return { holds: true };
  const [row] = await ask(context, call, question, 'precondition', signal);
  return row === undefined ? { holds: false, message: 'the precondition no longer holds: its query returned no row' } : expectFields(question.expect, row);
}

async function ask(context: PostgresContext, { effect, key, args }: EffectCall<PostgresEffect>, question: Question, what: string, signal: AbortSignal): Promise<JsonObject[]> {
  if (!('query' in question)) throw new CallError('terminal', `the ${what} of a postgres effect needs a query`);
  const query = fillStatement(question.query, QUERY_WORDS, key, args);
  if (!query.ok) throw new CallError('terminal', `the ${what} of "${effect.name}": ${query.problem}`);
  try {
    const attempt = await context.databases.read(dsnOf(context, effect), query, { timeoutMs: effect.timeoutMs, signal });
    if (attempt.kind === 'ended') return rowsOf(attempt.value);
    throw new CallError(refusedBySql(attempt.error) ? 'terminal' : 'retryable', `the ${what} of "${effect.name}": ${sqlMessage(attempt.error)}`);
  } catch (error) {
    if (error instanceof DsnProblem) throw new CallError('terminal', error.message);
    throw error;
  }
}
