import type { Json, JsonObject } from '../../contracts/json.js';
import type { SqlAnswer } from '../../contracts/sql.js';
import { storableJson } from '../../domain/text.js';
import { readAnswerJson } from '../answer-json.js';
import { clipped, MAX_RESULT_CHARS } from '../clipped.js';

const BOOL = 16;
const WHOLE = new Set([20, 21, 23, 26, 1700]);
const FRACTION = new Set([700, 701]);
const JSON_TYPES = new Set([114, 3802]);

/** Rows as JSON. Whole numbers that a double cannot hold, numerics with a fraction, times and every other type stay text (D14). */
export function rowsOf({ columns, rows }: SqlAnswer): JsonObject[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name, type }, index) => [name, valueOf(row[index] ?? null, type)])));
}

function valueOf(text: string | null, type: number): Json {
  if (text === null) return null;
  if (type === BOOL) return text === 't';
  if (FRACTION.has(type)) return Number.isFinite(Number(text)) ? Number(text) : text;
  const asJson = JSON_TYPES.has(type) || (WHOLE.has(type) && /^-?\d+$/.test(text));
  return asJson ? (readAnswerJson(text) ?? text) : text;
}

/** What is kept of an answer as the result of an effect, bounded like that of every adapter. */
export function resultOf(answer: SqlAnswer): Json {
  const result = { rows: rowsOf(answer), count: answer.count };
  const text = JSON.stringify(result);
  return text.length > MAX_RESULT_CHARS ? clipped(text, `${text.length} characters, ${answer.count} rows`) : storableJson(result);
}
