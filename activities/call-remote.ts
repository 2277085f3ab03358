import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { A2aChild } from '../contracts/definition.js';
import { CallError, clampMessage } from '../domain/failure.js';
import { decideRemote, pollWait } from '../domain/remote-call.js';
import { notePhysicalCall } from '../store/ledger/finish-call.js';
import { addEvidence } from '../store/ledger/reconcile.js';
import { beginSend, claimRemote, recordTask } from '../store/ledger/remote-call.js';
import type { RemoteClaim } from '../store/ledger/remote-call.js';
import { callSignal, cancelSignal } from './beat.js';
import type { ChildCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { failed, limited, outcomeOf, remoteStep, settle, untilEnd } from './remote-task.js';
import type { RemoteStep } from './remote-task.js';

export const NOT_KNOWN = 'It is not known whether the remote agent works on it, so it was not sent again.';

/**
 * Calls a remote agent and waits for the end of its task (D32). The id of the task is recorded before anybody waits; a retry takes the task up
 * again, or looks for it, before anything is sent (D13). A cancel or the time limit only ends the waiting: the workflow then ends the task by
 * `endRemoteChild`.
 */
export async function callRemote(deps: ActivityDeps, call: ChildCall<A2aChild>, timeoutMs: number): Promise<void> {
  const claim = await claimRemote(deps.pool, call.key);
  if (claim.kind === 'stored') return;
  const step = remoteStep(deps, call, claim);
  const signal = callSignal(Math.max(timeoutMs - claim.elapsedMs, 1));
  try {
    const taskId = claim.taskId ?? (await begin(step, claim, signal));
    if (taskId === null) return;
    const task = await untilEnd(step, taskId, signal);
    await settle(step, task === null ? failed(`The remote agent does not know its task ${taskId} any more. What became of it is not known.`) : outcomeOf(task));
  } catch (error) {
    cancelSignal().throwIfAborted();
    if (!signal.aborted) throw error;
    throw new CallError('terminal', 'It did not end within its time limit.');
  }
}

/** Finds the task of a message that may have been sent, or sends it; its recorded id, or null when the call is settled without one. */
async function begin(step: RemoteStep, { maySent }: RemoteClaim, signal: AbortSignal): Promise<string | null> {
  const { idempotent, pollMs } = step.call.child;
  let absences = 0;
  let last: Found | null = null;
  for (let looks = 0; ; looks += 1) {
    const decision = decideRemote({ maySent, found: last?.kind ?? null, again: last?.again ?? true, absences, idempotent });
    if (decision === 'send') return send(step, signal);
    if (decision === 'give_up') {
      await settle(step, failed(`${NOT_KNOWN} ${last?.note ?? ''}`));
      return null;
    }
    if (looks > 0) await delay(pollWait(pollMs, looks), undefined, { signal });
    const found = await find(step, signal);
    if (found.taskId !== null) return found.taskId;
    absences += found.kind === 'absent' ? 1 : 0;
    last = found;
  }
}

export interface Found {
  kind: 'found' | 'absent' | 'inconclusive';
  again: boolean;
  note: string;
  taskId: string | null;
}

/** One look for the task of a message, kept as evidence (D15). A task that is found is recorded. */
export async function find({ deps, key, call }: RemoteStep, signal: AbortSignal): Promise<Found> {
  const found = await deps.remote.find(call, limited(signal));
  signal.throwIfAborted();
  await addEvidence(deps.pool, { key, by: 'worker', found: found.kind, note: clampMessage(found.note) });
  if (found.kind !== 'found') return { kind: found.kind, again: found.kind === 'absent' || found.again, note: found.note, taskId: null };
  await recordTask(deps.pool, key, found.taskId, null);
  return { kind: 'found', again: false, note: found.note, taskId: found.taskId };
}

async function send(step: RemoteStep, signal: AbortSignal): Promise<string | null> {
  const { deps, key, generation, call } = step;
  const physicalCallId = randomUUID();
  await deps.probe('before_dispatch', key);
  signal.throwIfAborted();
  if (!(await beginSend(deps.pool, key, generation, physicalCallId))) throw new CallError('terminal', 'the call was taken over or its turn was cancelled; nothing was sent');
  await deps.probe('after_dispatch', key);
  const sent = await deps.remote.send(call, limited(signal));
  await deps.probe('after_effect', key);
  switch (sent.kind) {
    case 'task':
      return record(step, sent.task.id, physicalCallId);
    case 'answered':
      await settle(step, { state: 'succeeded', result: sent.text, reason: null, question: null }, physicalCallId);
      return null;
    case 'rejected':
      await settle(step, failed(`The remote agent did not take the request: ${sent.message}`), physicalCallId);
      return null;
    case 'not_sent':
    case 'uncertain':
      await notePhysicalCall(deps.pool, physicalCallId, sent.kind, clampMessage(sent.message));
      throw new CallError('retryable', sent.kind === 'not_sent' ? `the remote agent cannot be reached: ${sent.message}` : `it is not known whether the remote agent got the message: ${sent.message}`);
  }
}

/** Once this is committed, nobody has to send again (D32). A task of a call that was settled meanwhile stays as evidence (D17). */
async function record({ deps, key }: RemoteStep, taskId: string, physicalCallId: string): Promise<string> {
  const recorded = await recordTask(deps.pool, key, taskId, physicalCallId);
  if (recorded !== taskId) {
    await addEvidence(deps.pool, { key, by: 'worker', found: 'found', note: `the remote agent answered late with task ${taskId}` });
    throw new CallError('terminal', 'the call was taken over or ended while its message was on its way');
  }
  await deps.probe('after_record', key);
  return taskId;
}
