import type { McpEffect } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import { clampMessage } from '../../domain/failure.js';
import { namesMismatch } from '../answer-json.js';
import type { EffectCall, PerformResult } from '../types.js';
import { idOf, readAnswer, type ReadAnswer } from './answer.js';
import { judgeFailure, reasonOf } from './failure.js';
import { SessionProblem, type Session } from './session.js';
import type { Sessions } from './sessions.js';

/** One `tools/call` (D10). Whatever stops it before the request is handed over is `not_sent`. */
export async function performMcp(sessions: Sessions, call: EffectCall<McpEffect>, signal: AbortSignal): Promise<PerformResult> {
  const { effect } = call;
  const { tool } = effect.mcp;
  const args = withKey(call);
  if (typeof args === 'string') return notSent(args);
  if (signal.aborted) return notSent('the call was ended before it began');
  const session = await ready(sessions, effect, signal);
  if (typeof session === 'string') return notSent(session);
  try {
    const answer = await session.call(tool, args, { signal, timeoutMs: effect.timeoutMs });
    return judge(call, readAnswer(answer, session.mask), answer.isError);
  } catch (error) {
    const judged = judgeFailure(error, effect.mcp.errors, signal);
    return 'message' in judged ? { ...judged, message: session.mask.text(judged.message) } : judged;
  }
}

/** The arguments with the key in its place, or what is wrong. They were approved as they are: replacing one in silence is not allowed (D21). */
function withKey({ effect, key, args }: EffectCall<McpEffect>): JsonObject | string {
  const places = [effect.idempotency?.argument, effect.correlation?.argument].filter((place) => place !== undefined);
  const taken = places.find((place) => Object.hasOwn(args, place));
  if (taken !== undefined) return `effect "${effect.name}": "${taken}" carries Holdfast's key and cannot be an argument`;
  return { ...args, ...Object.fromEntries(places.map((place) => [place, key])) };
}

/** A session whose server has the tool, or why there is none. A server that does not list the tool is not called. */
async function ready(sessions: Sessions, effect: McpEffect, signal: AbortSignal): Promise<Session | string> {
  const { server, tool } = effect.mcp;
  try {
    const session = await sessions.get(server, signal);
    return (await session.tool(tool, signal)) === undefined ? `effect "${effect.name}": the MCP server has no tool "${tool}"` : session;
  } catch (error) {
    return `effect "${effect.name}": ${error instanceof SessionProblem ? error.message : `the MCP server did not list its tools: ${reasonOf(error)}`}`;
  }
}

function judge({ effect, key }: EffectCall<McpEffect>, { value, result, line }: ReadAnswer, isError: boolean): PerformResult {
  const { mcp, idempotency } = effect;
  if (isError) {
    if (idempotency?.onMismatch === 'conflict' && namesMismatch(value)) return { kind: 'conflict', message: clampMessage(`the tool knows the key ${key} with other arguments: ${line}`) };
    const message = clampMessage(`the tool reported an error: ${line}`);
    return mcp.errors === 'rejected' ? { kind: 'rejected', result, message } : { kind: 'uncertain', message, retryAfterMs: null };
  }
  if (mcp.resultId === null) return { kind: 'succeeded', externalId: null, result };
  const externalId = idOf(value, mcp.resultId);
  if (externalId !== null) return { kind: 'succeeded', externalId, result };
  return { kind: 'uncertain', message: clampMessage(`the tool answered without a usable "${mcp.resultId}": ${line}`), retryAfterMs: null };
}

function notSent(message: string): PerformResult {
  return { kind: 'not_sent', message: clampMessage(message), retryAfterMs: null };
}
