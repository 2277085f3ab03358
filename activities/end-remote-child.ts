import { setTimeout as delay } from 'node:timers/promises';
import { claimRemote } from '../store/ledger/remote-call.js';
import { loadCall } from '../store/turn/context.js';
import { NOT_KNOWN, find } from './call-remote.js';
import { childCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { STOP_MS, remoteStep, settle, settleUnheard, stopTask } from './remote-task.js';
import type { RemoteStep } from './remote-task.js';

/**
 * Ends what a call of a remote agent left running, after a cancel or when the call is given up: its task is found, told to end, and waited for,
 * bounded (D27). Then the call is settled with what is known; a call of which nothing was sent is left to whoever ends the turn.
 */
export async function endRemoteChild(deps: ActivityDeps, input: { key: string; cancelled: boolean; reason: string }): Promise<void> {
  const entry = await loadCall(deps.pool, input.key);
  if (entry?.state !== 'dispatched') return;
  const call = await childCall(deps, input.key);
  if (call.child.kind !== 'a2a') throw new Error(`child ${call.child.name} is no remote agent`);
  const claim = await claimRemote(deps.pool, input.key);
  if (claim.kind === 'stored' || (claim.taskId === null && !claim.maySent)) return;
  const step = remoteStep(deps, { ...call, child: call.child }, claim);
  const taskId = claim.taskId ?? (await findTask(step));
  if (taskId === null) return settleUnheard(step, `${input.reason} ${NOT_KNOWN}`);
  await settle(step, await stopTask(step, taskId, input.cancelled ? 'cancelled' : 'failed', input.reason));
}

async function findTask(step: RemoteStep): Promise<string | null> {
  const signal = AbortSignal.timeout(STOP_MS);
  try {
    for (;;) {
      const found = await find(step, signal);
      if (found.taskId !== null || !found.again) return found.taskId;
      await delay(step.call.child.pollMs, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
