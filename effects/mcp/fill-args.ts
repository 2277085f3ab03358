import type { Json, JsonObject } from '../../contracts/json.js';

/** Filled arguments, or the reason why they cannot be made; an operator reads the reason. */
export type FilledArgs = { ok: true; args: JsonObject } | { ok: false; problem: string };

class Missing extends Error {}

const WHOLE = /^\{(key|args\.([^{}]+))\}$/;
const PLACEHOLDER = /\{(key|args\.([^{}]+))\}/g;

/**
 * Fills `{key}` and `{args.NAME}` in the arguments of a look-up. A text that is one placeholder becomes the argument itself, with its type;
 * inside a longer text only scalars are put. Names of arguments are never replaced.
 */
export function fillArgs(template: JsonObject, key: string, args: JsonObject): FilledArgs {
  try {
    return { ok: true, args: fill(template, key, args) as JsonObject };
  } catch (error) {
    if (error instanceof Missing) return { ok: false, problem: error.message };
    throw error;
  }
}

function fill(template: Json, key: string, args: JsonObject): Json {
  if (Array.isArray(template)) return template.map((item) => fill(item, key, args));
  if (typeof template === 'object' && template !== null) return Object.fromEntries(Object.entries(template).map(([name, item]) => [name, fill(item, key, args)]));
  if (typeof template !== 'string') return template;
  const whole = WHOLE.exec(template);
  if (whole !== null) return whole[2] === undefined ? key : argument(args, whole[2]);
  return template.replace(PLACEHOLDER, (_all, _name, name: string | undefined) => (name === undefined ? key : scalar(args, name)));
}

function argument(args: JsonObject, name: string): Json {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined || value === null || value === '') throw new Missing(`the argument "${name}" is missing or empty`);
  return value;
}

function scalar(args: JsonObject, name: string): string {
  const value = argument(args, name);
  if (typeof value === 'object') throw new Missing(`the argument "${name}" cannot be part of a text`);
  return String(value);
}
