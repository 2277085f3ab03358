import { ApplicationFailure, CancellationScope, allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { conversationOf, isOwnThread, mayRunUnder } from '../domain/keys.js';
import type { ConversationRef } from '../contracts/steps.js';
import { store } from './activities.js';
import type { CarriedState } from './carried.js';
import { openTurn } from './definition.js';
import { registerHandlers } from './handlers.js';
import type { ConversationStart } from './messages.js';
import { Rollover, Session } from './session.js';
import { runTurn } from './turn.js';

/** A run waits this long for the next input before it completes, so that a sender rarely meets a run that is just ending (D3). */
const LINGER_MS = 3000;

/** One conversation: handles the turns that wait, in the order of their acceptance, then completes (D1). */
export async function conversation(start?: ConversationStart): Promise<void> {
  const session = new Session(refOf(start), (start?.carried as CarriedState | undefined) ?? null);
  let scope = new CancellationScope();
  registerHandlers(session, () => scope.cancel());
  // A cancel from the Temporal UI cancels the running turn and what waits behind it, and then the run ends by itself.
  let cancelling = Promise.resolve();
  CancellationScope.current().cancelRequested.catch(() => {
    cancelling = cancelEverything(session, () => scope.cancel());
  });
  await CancellationScope.nonCancellable(async () => {
    try {
      while (await nextTurn(session)) {
        scope = new CancellationScope();
        await oneTurn(session, scope);
      }
      await cancelling;
    } catch (error) {
      if (!(error instanceof Rollover)) throw error;
      await cancelling;
      await session.noted();
      await condition(allHandlersFinished);
      await continueAsNew<typeof conversation>({ ...session.ref, carried: session.carry() });
    }
  });
}

function refOf(start: ConversationStart | undefined): ConversationRef {
  const { workflowId } = workflowInfo();
  const ref = start ?? conversationOf(workflowId);
  if (ref === null || isOwnThread(ref.threadId) || !mayRunUnder(workflowId, ref)) {
    throw ApplicationFailure.nonRetryable('a conversation runs under the id holdfast/{agent}/{thread}, percent-encoded, and its { agent, threadId } must be those of the id; no thread that begins with "~" is one', 'invalid_input');
  }
  return { agent: ref.agent, threadId: ref.threadId };
}

/** False when nothing came for a while and no handler works: the run's last task carries its completion and nothing else (D3). */
async function nextTurn(session: Session): Promise<boolean> {
  const waiting = () => session.running !== null || session.queue.length > 0;
  while (!(await condition(waiting, LINGER_MS))) {
    if (allHandlersFinished()) return waiting();
    await condition(allHandlersFinished);
  }
  return true;
}

async function oneTurn(session: Session, scope: CancellationScope): Promise<void> {
  if (session.mustRollOver()) throw new Rollover();
  if (session.running === null) {
    const turnId = session.take();
    if (turnId === null) return;
    if ((await openTurn(session, turnId)) === null) return;
  }
  await runTurn(session, session.running!, scope);
  session.finish();
}

async function cancelEverything(session: Session, interrupt: () => void): Promise<void> {
  const reason = 'cancelled from Temporal';
  const { workflowId } = workflowInfo();
  const waiting = session.dropAll();
  const current = session.current();
  if (current !== null) {
    await session.activity(() => store.cancel({ turnId: current, reason, workflowId }));
    if (session.cancel(current)) interrupt();
  }
  for (const turnId of waiting) {
    await session.activity(() => store.cancel({ turnId, reason, workflowId }));
    await session.activity(() => store.end({ turnId, status: 'cancelled', reason }));
  }
}
