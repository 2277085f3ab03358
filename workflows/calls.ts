import { CancellationScope, CancelledFailure, ParentClosePolicy, getExternalWorkflowHandle, isCancellation, startChild } from '@temporalio/workflow';
import { CHILD_AGENT, WORKFLOW_TASK_TIMEOUT } from './messages.js';
import { REMOTE_ATTEMPTS, checkpoint, reading, repeatable, store } from './activities.js';
import { runEffect } from './effect-call.js';
import { beginDetached } from './detached.js';
import { withDefinition } from './definition.js';
import { Rollover } from './session.js';
import type { CallProgress, Session, TurnProgress } from './session.js';
import { failureText, summarizeCall } from './turn.js';

/** Runs one call of a reply to its one result. After a cancel nothing new begins (D27). */
export async function runCall(session: Session, turn: TurnProgress, call: CallProgress, scope: CancellationScope): Promise<void> {
  if (call.phase === 'done' || (turn.cancelled && call.phase !== 'open')) return;
  if (call.ref.kind === 'effect') await runEffect(session, turn, call, scope);
  else if (call.ref.kind === 'input') await askUser(session, turn, call);
  else await runChild(session, turn, call, scope);
  call.phase = 'done';
  session.noteStatus();
}

async function runChild(session: Session, turn: TurnProgress, call: CallProgress, scope: CancellationScope): Promise<void> {
  const { key } = call.ref;
  try {
    await withDefinition(session, key, () => askChild(session, call, scope));
  } catch (error) {
    if (error instanceof Rollover) throw error;
    if (call.ref.remote === true) await endRemote(session, turn, call, error);
    if (isCancellation(error) || turn.cancelled) return;
    await session.activity(() => store.giveUpCall({ key, reason: failureText(error) }));
    return;
  }
  if (call.ref.summarize && turn.summaryTiming === 'before_finalize' && !turn.cancelled) await summarizeCall(session, key, scope);
}

/** The reference is read anew for each try: a migration may have changed it (D34). */
function askChild(session: Session, call: CallProgress, scope: CancellationScope): Promise<void> {
  const { key, timeoutMs, name, childAgent, detached } = call.ref;
  if (detached === true) return session.activity(() => beginDetached(key));
  if (childAgent) return session.activity(() => scope.run(() => runChildAgent(key)));
  return session.activity(() => scope.run(() => repeatable(timeoutMs, `child ${name}`, call.ref.remote === true ? REMOTE_ATTEMPTS : undefined).callChild({ key, timeoutMs })));
}

/** Nobody waits for the remote agent any more: its task is ended, as far as it lets itself be ended (D27). */
async function endRemote(session: Session, turn: TurnProgress, { ref }: CallProgress, error: unknown): Promise<void> {
  const cancelled = isCancellation(error) || turn.cancelled;
  const reason = cancelled ? 'The turn was cancelled.' : failureText(error);
  try {
    await session.activity(() => reading(`end the task of ${ref.name}`).endRemoteChild({ key: ref.key, cancelled, reason }));
  } catch (failure) {
    await session.activity(() => store.giveUpCall({ key: ref.key, reason: `${reason} It is not known whether the remote agent still works on it: ${failureText(failure)}` }));
  }
}

/**
 * A child agent is a workflow with its own turn, effects and approvals (D32). Its cancel is waited for (D27). It is told by its id alone: Temporal's
 * own cancel of a child goes to the first run, which is not there any more once the child has continued as new (D1).
 */
async function runChildAgent(key: string): Promise<void> {
  const child = await store.startChildAgent({ key });
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure('the turn was cancelled before its child began');
  let open = true;
  await CancellationScope.nonCancellable(async () => {
    const handle = await startChild(CHILD_AGENT, {
      workflowId: child.workflowId, args: [child], workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT, parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    });
    scope.cancelRequested.catch(async () => {
      // A child that has just ended cannot be told any more, and need not be.
      if (open) await getExternalWorkflowHandle(child.workflowId).cancel().catch(() => undefined);
    });
    await handle.result().finally(() => { open = false; });
    await store.finishChildAgent({ key, childTurnId: child.turnId });
  });
}

/** Waits for new input of the conversation; it becomes the result of the call (D4). An input that is no new one is no answer. */
async function askUser(session: Session, turn: TurnProgress, call: CallProgress): Promise<void> {
  const { key } = call.ref;
  call.phase = 'open';
  // The question is in the history before anybody can read that the turn waits: with a lost workflow task an answer could come before it (D4).
  await session.activity(() => checkpoint('a question was asked'));
  for (;;) {
    call.phase = 'open';
    // Questions of one reply are answered in its order.
    const isNext = () => turn.calls?.find(({ ref, phase }) => ref.kind === 'input' && phase === 'open') === call;
    await session.waitFor('waiting_input', key, 'the agent asked a question', () => session.answers.length > 0 && isNext(), null);
    if (turn.cancelled) return;
    const inputId = session.answers.shift()!;
    call.phase = 'perform';
    if (await session.activity(() => store.attach({ inputId, into: turn.turnId, beforeStep: turn.loop.step, answerKey: key }))) return;
  }
}
