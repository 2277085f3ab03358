import type { McpEffect } from '../../contracts/effect.js';
import type { Json, JsonObject } from '../../contracts/json.js';
import { clampMessage } from '../../domain/failure.js';
import { isObject, readId } from '../answer-json.js';
import { jsonResult } from '../http/body.js';
import type { EffectCall, LookupResult } from '../types.js';
import { readAnswer, unwrap, type ReadAnswer } from './answer.js';
import { judgeFailure } from './failure.js';
import { fillArgs } from './fill-args.js';
import { SessionProblem, type Session } from './session.js';
import type { Sessions } from './sessions.js';

/** Asks another tool whether the effect exists (D13). Found: one item with its id. Absent: null or an empty list. All else is inconclusive. */
export async function lookupMcp(sessions: Sessions, call: EffectCall<McpEffect>, signal: AbortSignal): Promise<LookupResult> {
  const { effect, key, args } = call;
  if (effect.lookup === null) return inconclusive('this effect has no look-up');
  const filled = fillArgs(effect.lookup.args, key, args);
  if (!filled.ok) return inconclusive(`the look-up cannot be asked: ${filled.problem}`);
  return (await ask(sessions, call, filled.args, signal)) ?? (await ask(sessions, call, filled.args, signal)) ?? inconclusive('look-up: the server ends every session');
}

/** Null: the server had forgotten the session and read nothing of the question. */
async function ask(sessions: Sessions, call: EffectCall<McpEffect>, args: JsonObject, signal: AbortSignal): Promise<LookupResult | null> {
  const { mcp, lookup } = call.effect;
  let session: Session;
  try {
    session = await sessions.get(mcp.server, signal);
  } catch (error) {
    if (error instanceof SessionProblem) return inconclusive(`look-up: ${error.message}`);
    throw error;
  }
  try {
    const answer = await session.call(lookup?.tool ?? '', args, { signal });
    const read = readAnswer(answer, session.mask);
    return answer.isError ? inconclusive(`the look-up tool reported an error: ${read.line}`) : judge(call, read);
  } catch (error) {
    const failed = judgeFailure(error, mcp.errors, signal);
    if (failed.kind === 'not_sent') return null;
    return inconclusive(`look-up: ${'message' in failed ? session.mask.text(failed.message) : ''}`);
  }
}

function judge(call: EffectCall<McpEffect>, { value, line }: ReadAnswer): LookupResult {
  const items = unwrap(value);
  if (items === undefined) return inconclusive(`the answer of the look-up is not JSON: ${line}`);
  if (items === null || (Array.isArray(items) && items.length === 0)) return { kind: 'absent', note: 'the look-up found nothing under this key' };
  if (!Array.isArray(items)) return judgeItem(call, items);
  if (items.length > 1) return inconclusive(`the look-up found ${items.length} matches; one was expected: check them in the target system`);
  return judgeItem(call, items[0] ?? null);
}

function judgeItem({ effect, key }: EffectCall<McpEffect>, item: Json): LookupResult {
  if (!isObject(item)) return inconclusive('the look-up did not answer with an object or a list of objects');
  // A tool that ignores the filter answers with somebody else's item.
  const other = [effect.idempotency?.argument, effect.correlation?.argument].find((place) => place !== undefined && Object.hasOwn(item, place) && item[place] !== key);
  if (other !== undefined) return inconclusive(`the look-up found an item whose "${other}" is not this key`);
  const { resultId } = effect.mcp;
  const externalId = resultId === null ? null : readId(item, resultId);
  if (externalId === null) return inconclusive(`the look-up found no item with a usable "${resultId ?? 'id'}"`);
  return { kind: 'found', externalId, result: jsonResult(item), note: clampMessage(`the look-up found ${externalId}`) };
}

function inconclusive(note: string): LookupResult {
  return { kind: 'inconclusive', note: clampMessage(note) };
}
