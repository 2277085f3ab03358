import type { Json } from '../../contracts/json.js';
import { isObject, readAnswerJson, readId, toJson } from '../answer-json.js';
import { jsonResult, snippet } from '../http/body.js';
import type { ToolAnswer } from './calls.js';
import type { Mask } from './mask.js';

/** A tool's answer, read: `value` is what it means as JSON (undefined when it is none), `result` what is kept, `line` its beginning for messages. */
export interface ReadAnswer {
  value: Json | undefined;
  result: Json;
  line: string;
}

/** Structured content counts first; else the JSON in an only text. What is kept is bounded and storable, as with http (D8). */
export function readAnswer({ content, structuredContent }: ToolAnswer, mask: Mask): ReadAnswer {
  const texts = content.flatMap((item) => (item.type === 'text' && typeof item['text'] === 'string' ? [item['text']] : []));
  const text = texts.length === content.length ? texts.join('\n') : undefined;
  const read = structuredContent === undefined || structuredContent === null ? (text === undefined ? undefined : readAnswerJson(text)) : toJson(structuredContent);
  const value = read === undefined ? undefined : mask.json(read);
  const kept = value ?? mask.json(text ?? toJson(content) ?? null);
  return { value, result: kept === '' ? null : jsonResult(kept), line: snippet({ kind: 'text', text: typeof kept === 'string' ? kept : JSON.stringify(kept) }) };
}

/** Servers that may return no object wrap what they return as `{ result }`. */
export function unwrap(value: Json | undefined): Json | undefined {
  return isObject(value) && Object.hasOwn(value, 'result') && Object.keys(value).length === 1 ? value['result'] : value;
}

/** The external id in an answer, or in what it wraps. */
export function idOf(value: Json | undefined, field: string): string | null {
  return readId(value, field) ?? readId(unwrap(value), field);
}
