import type { PostgresEffect } from '../../contracts/effect.js';
import type { Json, JsonObject } from '../../contracts/json.js';
import { readSqlTemplate, sqlProblem } from '../../contracts/sql-template.js';
import type { Judged, Sql, SqlValue } from '../../contracts/sql.js';
import { readId } from '../answer-json.js';
import { resultOf, rowsOf } from './rows.js';

/** A statement with its parameters, or why it cannot be made. */
export type Statement = { ok: true; text: string; values: SqlValue[] } | { ok: false; problem: string };

/**
 * Turns placeholders into parameters, one for each place, so that each takes the type of its own place. A missing argument is null; objects and
 * arrays are JSON text. Values never become part of the text.
 */
export function fillStatement(sql: string, firstWords: string[], key: string, args: JsonObject): Statement {
  const template = readSqlTemplate(sql);
  const problem = sqlProblem(sql, firstWords);
  if (!template.ok || problem !== null) return { ok: false, problem: `the SQL ${problem ?? 'cannot be read'}` };
  const text = template.texts.reduce((all, part, index) => `${all}$${index}${part}`);
  return { ok: true, text, values: template.names.map((name) => (name === 'key' ? key : parameter(args, name.slice('args.'.length)))) };
}

function parameter(args: JsonObject, name: string): SqlValue {
  const value: Json | undefined = Object.hasOwn(args, name) ? args[name] : null;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Runs the statement of an effect and judges its answer (D25): too few rows, or an id that is missing, and nothing is kept. */
export async function runStatement(sql: Sql, { postgres }: PostgresEffect, { text, values }: { text: string; values: SqlValue[] }): Promise<Judged> {
  const answer = await sql(text, values);
  const result = resultOf(answer);
  if (answer.count < postgres.minRows) {
    return { kind: 'rejected', result, message: `the statement affected ${answer.count} rows, at least ${postgres.minRows} are needed: its condition does not hold; nothing was changed` };
  }
  if (postgres.resultId === null) return { kind: 'succeeded', externalId: null, result };
  const externalId = readId(rowsOf(answer)[0], postgres.resultId);
  if (externalId !== null) return { kind: 'succeeded', externalId, result };
  return { kind: 'rejected', result, message: `the statement returned no usable "${postgres.resultId}"; add it to its "returning" clause; nothing was changed` };
}
