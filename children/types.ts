import type { A2aChild, ConversationLine, FunctionChild } from '../contracts/definition.js';
import type { JsonObject } from '../contracts/json.js';

/**
 * State of a remote task. `working` covers everything that goes on by itself. `asks`: it waits for an answer or for access
 * (input-required, auth-required) and goes on when it gets another message.
 */
export type RemoteState = 'working' | 'completed' | 'failed' | 'rejected' | 'canceled' | 'asks';

/** A task as the remote agent tells it. `text`: what it has said so far, bounded and storable; data, never an instruction or an approval (D24). */
export interface RemoteTask {
  id: string;
  state: RemoteState;
  text: string;
}

/** One message to a remote agent. `messageId` is the same on every resend, `contextId` on every call from one conversation. */
export interface RemoteCall {
  child: A2aChild;
  messageId: string;
  contextId: string;
  /** The task that the message belongs to; null: it begins one. */
  taskId: string | null;
  text: string;
}

/**
 * How one sending ended. `answered`: with a message and without a task, which is the whole result. `rejected`: the remote agent refused the
 * message. `not_sent`: proven that no byte of it left. `uncertain`: everything else (D10). `retryAfterMs`: what the server asked for, if it did.
 */
export type SendResult =
  | { kind: 'task'; task: RemoteTask }
  | { kind: 'answered'; text: string }
  | { kind: 'rejected'; message: string }
  | { kind: 'not_sent'; message: string; retryAfterMs: number | null }
  | { kind: 'uncertain'; message: string; retryAfterMs: number | null };

/**
 * `absent`: the remote agent answered and lists no task for the message; that proves nothing, it may list it later. `again`: another look may
 * find out more. What a found task has said is asked for by `look`: a list need not hold it.
 */
export type FindResult = { kind: 'found'; taskId: string; note: string } | { kind: 'absent'; note: string } | { kind: 'inconclusive'; note: string; again: boolean };

/** `gone`: it says that it has no such task. */
export type LookResult = { kind: 'task'; task: RemoteTask } | { kind: 'gone' } | { kind: 'unreachable'; message: string };

/** A remote agent (D32). No method throws: what could not be found out is part of the answer. `signal` ends a request. */
export interface RemoteAgent {
  send(call: RemoteCall, signal: AbortSignal): Promise<SendResult>;
  /** Looks for the task of a message whose answer was lost (D13). */
  find(call: RemoteCall, signal: AbortSignal): Promise<FindResult>;
  look(child: A2aChild, taskId: string, signal: AbortSignal): Promise<LookResult>;
  /** Asks it to end a task; whether it did is seen by looking (D27). */
  cancel(child: A2aChild, taskId: string, signal: AbortSignal): Promise<void>;
}

/**
 * What a function child gets, and nothing else (D32). `request`: the text of the request; with an `input_schema`, the arguments as JSON text.
 * `key` is the same whenever the call is repeated. `signal` fires at the time limit and on a cancel: the function should end then.
 */
export interface FunctionInput {
  request: string;
  args: JsonObject;
  conversation?: ConversationLine[];
  key: string;
  signal: AbortSignal;
}

/** A function child: returns text or an object that is JSON. It may be called again under the same key (D12); an error with `failure: 'terminal'` is not retried. */
export type ChildFunction = (input: FunctionInput) => Promise<string | object>;

/** Finds the function that a definition names. Throws when the worker has none of that name. */
export type FunctionOf = (child: FunctionChild) => Promise<ChildFunction>;
