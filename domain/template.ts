import { isLosslessNumber, parse, stringify } from 'lossless-json';
import type { Json, JsonObject } from '../contracts/json.js';

/** What placeholders stand for: named groups of a pattern and the text of the last result (null: there is none). */
export interface TemplateValues {
  groups: Record<string, string | undefined>;
  result: string | null;
}

const NAME = '\\{(result(?:\\.[\\w-]+)*|[\\p{ID_Start}_$][\\p{ID_Continue}$-]*)';
const PLACEHOLDER = new RegExp(`${NAME}\\}`, 'gu');
const NAMED = /\{([\p{ID_Start}_$][\p{ID_Continue}$.:-]*)\}/gu;
const WHOLE_INTEGER = new RegExp(`^${NAME}:int\\}$`, 'u');

/**
 * Replaces `{group}`, `{result}` and `{result.FIELD}` (also `{result.A.B}`) in one pass: a value is never searched for placeholders.
 * A name that is no group stays as written; a group that took no part and a field that is not there become the empty string.
 */
export function fillText(template: string, values: TemplateValues): string {
  return template.replace(PLACEHOLDER, (written, name: string) => valueOf(name, values) ?? written);
}

/** Every name in braces that reads like a placeholder, also one that `fillArgs` would leave as written (as `name:int` inside a longer text). */
export function placeholderNames(value: Json): string[] {
  const whole = typeof value === 'string' ? WHOLE_INTEGER.exec(value)?.[1] : undefined;
  if (whole !== undefined) return [whole];
  if (typeof value === 'string') return Array.from(value.matchAll(NAMED), (match) => match[1] ?? '');
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placeholderNames) : [];
}

/** Fills every string of `args`; keys are left alone. `"{name:int}"` as a whole string becomes a number when its value is a safe integer. */
export function fillArgs(args: JsonObject, values: TemplateValues): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fillValue(value, values)]));
}

function fillValue(value: Json, values: TemplateValues): Json {
  if (typeof value === 'string') return fillString(value, values);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, values));
  return typeof value === 'object' && value !== null ? fillArgs(value, values) : value;
}

function fillString(template: string, values: TemplateValues): Json {
  const name = WHOLE_INTEGER.exec(template)?.[1];
  if (name === undefined) return fillText(template, values);
  const text = valueOf(name, values) ?? template;
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function valueOf(name: string, { groups, result }: TemplateValues): string | undefined {
  const [first, ...path] = name.split('.');
  if (Object.hasOwn(groups, name)) return groups[name] ?? '';
  if (first !== 'result') return undefined;
  return path.length === 0 ? (result ?? '') : fieldOf(result ?? '', path);
}

/** Numbers keep the digits they were written with, also beyond 2^53 (D14). */
function fieldOf(json: string, path: string[]): string {
  let value = parsed(json);
  for (const key of path) value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null;
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.toString();
  return value === null || value === undefined ? '' : (stringify(value) ?? '');
}

function parsed(json: string): unknown {
  try {
    return parse(json);
  } catch {
    return null;
  }
}
