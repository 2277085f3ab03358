import type { FunctionChild } from '../../contracts/definition.js';
import { jsonSchema } from '../../contracts/json.js';
import type { Json } from '../../contracts/json.js';
import { CallError } from '../../domain/failure.js';
import { clip, storable, storableJson } from '../../domain/text.js';
import type { ChildFunction, FunctionInput } from '../types.js';

/** Longest result that is kept, in UTF-16 code units of its text or JSON. */
const MAX_RESULT = 1_000_000;

/** How long a function that was told to end may go on, in milliseconds, before nobody waits for it any more (D27). */
const GRACE_MS = 5000;

/** Runs one function child to its end and checks what it returns. Throws `CallError`: `terminal` when a repeat cannot help (D35). */
export async function runFunction(child: FunctionChild, run: ChildFunction, input: FunctionInput): Promise<Json> {
  const ended = given(input.signal);
  try {
    return checked(child, await Promise.race([run(input), ended.late]));
  } catch (error) {
    if (error instanceof CallError) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new CallError(isTerminal(error) ? 'terminal' : 'retryable', `the function "${child.name}" failed: ${text}`);
  } finally {
    ended.forget();
  }
}

/** Rejects some time after the signal, for functions that do not listen to it. */
function given(signal: AbortSignal): { late: Promise<never>; forget: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => undefined as void;
  const late = new Promise<never>((_, reject) => {
    onAbort = () => { timer = setTimeout(() => reject(new CallError('terminal', 'the function did not end within its time limit; it may still be running')), GRACE_MS); };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return { late, forget: () => { signal.removeEventListener('abort', onAbort); clearTimeout(timer); } };
}

function isTerminal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'failure' in error && error.failure === 'terminal';
}

function checked(child: FunctionChild, value: unknown): Json {
  if (typeof value === 'string') return clip(storable(value), MAX_RESULT);
  const wrong = (what: string) => new CallError('terminal', `the function "${child.name}" returned ${what}; it must return text or an object that is JSON`);
  if (typeof value !== 'object' || value === null) throw wrong(value === null ? 'null' : typeof value);
  const text = stringify(value);
  if (text === undefined) throw wrong('something that is not JSON');
  if (text.length > MAX_RESULT) throw wrong(`${text.length} characters of JSON, more than ${MAX_RESULT}`);
  return storableJson(jsonSchema.parse(JSON.parse(text)));
}

function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
