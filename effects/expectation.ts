import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../contracts/json.js';
import { clampMessage } from '../domain/failure.js';
import type { PreconditionResult } from './types.js';

/** Whether the state of a target still is what an approval expects: every field of `expect` must be equal, deeply (D25). */
export function compareState(expect: JsonObject, actual: JsonObject): PreconditionResult {
  for (const [field, wanted] of Object.entries(expect)) {
    const found = Object.hasOwn(actual, field) ? actual[field] : undefined;
    if (isDeepStrictEqual(plain(found), plain(wanted))) continue;
    const said = found === undefined ? 'missing' : JSON.stringify(found);
    return { holds: false, message: clampMessage(`the precondition no longer holds: ${field} must be ${JSON.stringify(wanted)}, but is ${said}`) };
  }
  return { holds: true };
}

/** -0 and 0 are one number in JSON, and prototypes do not count. */
function plain(value: Json | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
