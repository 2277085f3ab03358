import { setTimeout as delay } from 'node:timers/promises';
import type { RemoteCall, RemoteTask } from '../children/types.js';
import type { A2aChild } from '../contracts/definition.js';
import type { Json } from '../contracts/json.js';
import { contextIdOf } from '../domain/keys.js';
import { clampMessage } from '../domain/failure.js';
import { pollWait } from '../domain/remote-call.js';
import { sha256Hex } from '../store/hash.js';
import { finishRemote } from '../store/ledger/remote-call.js';
import type { RemoteClaim } from '../store/ledger/remote-call.js';
import { within } from './beat.js';
import type { ChildCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';

/** One call of a remote agent in the hands of one worker. */
export interface RemoteStep {
  deps: ActivityDeps;
  key: string;
  generation: number;
  call: RemoteCall;
}

/** How a call ended; `question` is the task that waits for an answer. */
export interface RemoteOutcome {
  state: 'succeeded' | 'failed' | 'cancelled';
  result: Json;
  reason: string | null;
  question: string | null;
}

/** Limit of one request, in milliseconds; also for a remote agent that is hung. */
export const REQUEST_MS = 10_000;

/** How long a remote agent that was told to end a task may need to say that it has, in milliseconds (D27). */
export const STOP_MS = 10_000;

/** Times that a remote agent must say that it does not know a task before that is believed. */
const MAX_GONE = 3;

/** The message id is the logical key and the context is that of (conversation, child): both are the same on every try. */
export function remoteStep(deps: ActivityDeps, { key, child, text }: ChildCall<A2aChild>, claim: RemoteClaim): RemoteStep {
  const contextId = contextIdOf(claim.agent, claim.threadId, child.name, sha256Hex);
  return { deps, key, generation: claim.generation, call: { child, messageId: key, contextId, taskId: claim.continues, text } };
}

/** Looks at a task until it has ended or asks something. Rejects when `signal` fires; null when the remote agent does not know the task any more. */
export async function untilEnd({ deps, call }: RemoteStep, taskId: string, signal: AbortSignal): Promise<RemoteTask | null> {
  let gone = 0;
  for (let looks = 0; ; looks += 1) {
    const seen = await deps.remote.look(call.child, taskId, limited(signal));
    if (seen.kind === 'task' && seen.task.state !== 'working') return seen.task;
    gone = seen.kind === 'gone' ? gone + 1 : 0;
    if (gone === MAX_GONE) return null;
    await delay(pollWait(call.child.pollMs, looks), undefined, { signal });
  }
}

/** Ends a task and waits, bounded, until the remote agent says that it has ended (D27). What it had done by then is its outcome (D28). */
export async function stopTask(step: RemoteStep, taskId: string, state: 'failed' | 'cancelled', why: string): Promise<RemoteOutcome> {
  const signal = AbortSignal.timeout(STOP_MS);
  await step.deps.remote.cancel(step.call.child, taskId, signal);
  const task = await untilEnd(step, taskId, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  if (task?.state === 'completed') return outcomeOf(task);
  if (task === null || task.state === 'asks') return { ...failed(`${why} The remote agent was told to end its task ${taskId} and did not confirm it: it may still be working.`), state: 'failed' };
  return { ...failed(`${why} The remote agent has ended its task (${task.state}). ${task.text}`), state };
}

/** A question is an answer for the parent: it may ask its user and call again; the next call goes on with the same task (D32). */
export function outcomeOf(task: RemoteTask): RemoteOutcome {
  if (task.state === 'completed') return { state: 'succeeded', result: task.text, reason: null, question: null };
  if (task.state === 'asks') {
    const message = `${task.text}\n(The remote agent waits for this; call it again with the answer.)`;
    return { state: 'succeeded', result: { status: 'input_required', message }, reason: null, question: task.id };
  }
  return failed(`The remote agent ended its task as ${task.state}. ${task.text}`);
}

export function failed(reason: string): RemoteOutcome {
  return { state: 'failed', result: null, reason: clampMessage(reason.trim()), question: null };
}

/** Stores how the call ended, also through an outage of PostgreSQL (D35); nothing happens when a newer owner has it (D17). `physicalCallId`: the call whose answer that is. */
export async function settle({ deps, key, generation }: RemoteStep, outcome: RemoteOutcome, physicalCallId: string | null = null, answered = false): Promise<void> {
  await insist(() => finishRemote(deps.pool, { key, generation, physicalCallId, answered, ...outcome }));
}

/**
 * Ends a call of which no task is known: it was refused, or it cannot be known whether its message arrived. If it was to answer a question, the
 * task itself says whether it still waits: then the next call answers it (D32). Of a task that cannot be asked the ledger's own rule decides.
 */
export async function settleUnheard(step: RemoteStep, reason: string, physicalCallId: string | null = null): Promise<void> {
  const { deps, call: { child, taskId } } = step;
  const seen = taskId === null ? null : await deps.remote.look(child, taskId, AbortSignal.timeout(REQUEST_MS));
  const waits = seen?.kind === 'task' && seen.task.state === 'asks';
  const over = seen !== null && seen.kind !== 'unreachable' && !waits;
  await settle(step, { ...failed(reason), question: waits ? taskId : null }, physicalCallId, over);
}

export function limited(signal: AbortSignal): AbortSignal {
  return within(signal, REQUEST_MS);
}
