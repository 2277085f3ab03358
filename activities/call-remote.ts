import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SendResult } from '../children/types.js';
import type { A2aChild } from '../contracts/definition.js';
import { CallError, clampMessage } from '../domain/failure.js';
import { decideRemote, pollWait, resendWait } from '../domain/remote-call.js';
import { notePhysicalCall } from '../store/ledger/finish-call.js';
import { addEvidence } from '../store/ledger/reconcile.js';
import { beginSend, claimRemote, recordTask } from '../store/ledger/remote-call.js';
import type { RemoteClaim } from '../store/ledger/remote-call.js';
import { callSignal, cancelSignal } from './beat.js';
import type { ChildCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';
import { failed, limited, outcomeOf, remoteStep, settle, settleUnheard, untilEnd } from './remote-task.js';
import type { RemoteStep } from './remote-task.js';

export const NOT_KNOWN = 'It is not known whether the remote agent works on it, so it was not sent again.';

/** The time of one call. */
interface Limit {
  signal: AbortSignal;
  /** Milliseconds that are left. */
  left(): number;
}

/**
 * Calls a remote agent and waits for the end of its task (D32). The id of the task is recorded before anybody waits; a retry takes the task up
 * again, or looks for it, before anything is sent (D13). A cancel or the time limit only ends the waiting: the workflow then ends the task by
 * `endRemoteChild`.
 */
export async function callRemote(deps: ActivityDeps, call: ChildCall<A2aChild>, timeoutMs: number): Promise<void> {
  const claim = await claimRemote(deps.pool, call.key);
  if (claim.kind === 'stored') return;
  const step = remoteStep(deps, call, claim);
  const limit = limitOf(Math.max(timeoutMs - claim.elapsedMs, 1));
  try {
    const taskId = claim.taskId ?? (await begin(step, claim, limit));
    if (taskId === null) return;
    const task = await untilEnd(step, taskId, limit.signal);
    await settle(step, task === null ? failed(`The remote agent does not know its task ${taskId} any more. What became of it is not known.`) : outcomeOf(task));
  } catch (error) {
    cancelSignal().throwIfAborted();
    if (!limit.signal.aborted || error instanceof CallError) throw error;
    throw new CallError('terminal', 'It did not end within its time limit.');
  }
}

function limitOf(ms: number): Limit {
  const until = performance.now() + ms;
  return { signal: callSignal(ms), left: () => until - performance.now() };
}

/** What is known of the message of a call whose task is not. */
interface Progress {
  maySent: boolean;
  /** The newest look since the message was sent last. */
  last: Found | null;
  absences: number;
  looks: number;
  sends: number;
}

/** Finds the task of a message that may have been sent, or sends it; its recorded id, or null when the call is settled without one. */
async function begin(step: RemoteStep, { maySent }: RemoteClaim, limit: Limit): Promise<string | null> {
  const { idempotent, pollMs } = step.call.child;
  const seen: Progress = { maySent, last: null, absences: 0, looks: 0, sends: 0 };
  for (;;) {
    const decision = decideRemote({ maySent: seen.maySent, found: seen.last?.kind ?? null, again: seen.last?.again ?? true, absences: seen.absences, idempotent });
    if (decision === 'give_up') {
      await settleUnheard(step, `${NOT_KNOWN} ${seen.last?.note ?? ''}`);
      return null;
    }
    if (decision === 'send') {
      const sent = await send(step, limit.signal);
      if (sent.kind === 'ended') return sent.taskId;
      await holdOff(seen, sent, limit);
      continue;
    }
    if (seen.looks > 0) await delay(pollWait(pollMs, seen.looks), undefined, { signal: limit.signal });
    const found = await find(step, limit.signal);
    if (found.taskId !== null) return found.taskId;
    seen.absences += found.kind === 'absent' ? 1 : 0;
    seen.looks += 1;
    seen.last = found;
  }
}

/** Waits after a try of which no answer came, before the next one or the look for what became of it. Throws when there is no time for another (D35). */
async function holdOff(seen: Progress, sent: Extract<SendResult, { kind: 'not_sent' | 'uncertain' }>, { signal, left }: Limit): Promise<void> {
  seen.sends += 1;
  seen.maySent ||= sent.kind === 'uncertain';
  Object.assign(seen, { last: null, absences: 0, looks: 0 });
  const waitMs = resendWait({ sends: seen.sends, retryAfterMs: sent.retryAfterMs, leftMs: left() });
  if (waitMs !== null) return delay(waitMs, undefined, { signal });
  const what = seen.maySent ? 'it is not known whether the remote agent got the message' : 'the remote agent cannot be reached; nothing was sent';
  throw new CallError('terminal', `${what}: ${sent.message}`);
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
  await insist(() => addEvidence(deps.pool, { key, by: 'worker', found: found.kind, note: clampMessage(found.note) }));
  if (found.kind !== 'found') return { kind: found.kind, again: found.kind === 'absent' || found.again, note: found.note, taskId: null };
  await insist(() => recordTask(deps.pool, key, found.taskId, null));
  return { kind: 'found', again: false, note: found.note, taskId: found.taskId };
}

/** `ended`: the message was answered, by the task whose id is recorded or by what settled the call. */
type Sent = { kind: 'ended'; taskId: string | null } | Extract<SendResult, { kind: 'not_sent' | 'uncertain' }>;

/** Sends the message once. What came of it is kept also while PostgreSQL is away: the remote agent says it only once (D12, D13). */
async function send(step: RemoteStep, signal: AbortSignal): Promise<Sent> {
  const { deps, key, generation, call } = step;
  const physicalCallId = randomUUID();
  await deps.probe('before_dispatch', key);
  signal.throwIfAborted();
  if (!(await insist(() => beginSend(deps.pool, key, generation, physicalCallId)))) {
    await notePhysicalCall(deps.pool, physicalCallId, 'not_sent', 'the call was over before it was sent');
    throw new CallError('terminal', 'the call was taken over or its turn was cancelled; nothing was sent');
  }
  await deps.probe('after_dispatch', key);
  const sent = await deps.remote.send(call, limited(signal));
  await deps.probe('after_effect', key);
  switch (sent.kind) {
    case 'task':
      return { kind: 'ended', taskId: await record(step, sent.task.id, physicalCallId) };
    case 'answered':
      await settle(step, { state: 'succeeded', result: sent.text, reason: null, question: null }, physicalCallId);
      return { kind: 'ended', taskId: null };
    case 'rejected':
      await settleUnheard(step, `The remote agent did not take the request: ${sent.message}`, physicalCallId);
      return { kind: 'ended', taskId: null };
    case 'not_sent':
    case 'uncertain':
      await insist(() => notePhysicalCall(deps.pool, physicalCallId, sent.kind, clampMessage(sent.message)));
      return sent;
  }
}

/** Once this is committed, nobody has to send again (D32). A task of a call that was settled meanwhile stays as evidence (D17). */
async function record({ deps, key }: RemoteStep, taskId: string, physicalCallId: string): Promise<string> {
  const recorded = await insist(() => recordTask(deps.pool, key, taskId, physicalCallId));
  if (recorded !== taskId) {
    await insist(() => addEvidence(deps.pool, { key, by: 'worker', found: 'found', note: `the remote agent answered late with task ${taskId}` }));
    throw new CallError('terminal', 'the call was taken over or ended while its message was on its way');
  }
  await deps.probe('after_record', key);
  return taskId;
}
