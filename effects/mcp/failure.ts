import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { McpTarget } from '../../contracts/effect.js';
import { clampMessage } from '../../domain/failure.js';
import { networkReason, neverSent } from '../http/network-error.js';
import type { PerformResult } from '../types.js';

/** JSON-RPC errors by which a server says that it did not run the tool (D10). */
const REFUSALS = new Set<number>([ErrorCode.ParseError, ErrorCode.InvalidRequest, ErrorCode.MethodNotFound]);
/** The protocol's way to say that a session is over; servers that lost theirs in a restart also answer 400. */
const SESSION_OVER = new Set([400, 404]);
/** Answers of the HTTP layer in front of the tools: the message was not taken. */
const NOT_TAKEN = new Set([401, 403, 405, 406, 411, 413, 414, 415, 422]);

/**
 * What the failure of one `tools/call` says about its effect (D10). Everything that is not known to be harmless is uncertain. "Invalid params"
 * is not: the official server says it also of a result that it cannot send, after the tool has run. So it means what `errors` declares.
 */
export function judgeFailure(error: unknown, errors: McpTarget['errors'], signal: AbortSignal): PerformResult {
  if (signal.aborted) return uncertain('no answer within the time limit; the server was told to cancel');
  if (error instanceof McpError) {
    const refused = REFUSALS.has(error.code) || (error.code === ErrorCode.InvalidParams && errors === 'rejected');
    return refused ? { kind: 'rejected', result: null, message: clampMessage(`the server refused the call: ${error.message}`) } : uncertain(error.message);
  }
  if (error instanceof StreamableHTTPError) return judgeStatus(error.code ?? 0, error.message);
  if (neverSent(error)) return notSent(`the MCP server cannot be reached: ${networkReason(error)}`);
  // What the SDK says when the connection had ended before it wrote anything.
  if (error instanceof Error && error.message === 'Not connected') return notSent('the connection to the MCP server had ended');
  return uncertain(reasonOf(error));
}

function judgeStatus(status: number, message: string): PerformResult {
  if (SESSION_OVER.has(status)) return notSent(`the server answered ${status}: the session is over`);
  return NOT_TAKEN.has(status) ? { kind: 'rejected', result: null, message: clampMessage(`the server answered ${status}: ${message}`) } : uncertain(message);
}

/**
 * What a failure says about the connection that it came over. `doubt`: a request had no answer, so whether the server still answers must be asked.
 * `spoilt`: the session is over, or the protocol was broken. An answer that the protocol knows says nothing against its connection.
 */
export function faultOf(error: unknown, signal: AbortSignal): 'none' | 'doubt' | 'spoilt' {
  if (signal.aborted) return 'doubt';
  if (error instanceof McpError) return error.code === ErrorCode.RequestTimeout || error.code === ErrorCode.ConnectionClosed ? 'doubt' : 'none';
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0) return SESSION_OVER.has(error.code) || error.code >= 500 ? 'spoilt' : 'none';
  return 'spoilt';
}

/** Why a request failed, in one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return networkReason(error);
  if (error instanceof Error && error.name.includes('ZodError')) return 'the answer does not follow the protocol';
  return error instanceof Error ? error.message : String(error);
}

function notSent(message: string): PerformResult {
  return { kind: 'not_sent', message: clampMessage(message), retryAfterMs: null };
}

function uncertain(message: string): PerformResult {
  return { kind: 'uncertain', message: clampMessage(message), retryAfterMs: null };
}
