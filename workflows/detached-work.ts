import { CancellationScope, allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import type { DetachedRef } from '../contracts/steps.js';
import { store } from './activities.js';
import { registerHandlers } from './handlers.js';
import { Rollover, Session } from './session.js';
import type { Carried, TurnProgress } from './session.js';
import { runCalls, runTurn } from './turn.js';

/** A turn that outlives the one that began it: detached work (D30), or an effect that undoes another one (D29). It is decided, settled and cancelled under its own workflow id. */
export async function detachedWork(ref: DetachedRef, carried?: Carried): Promise<void> {
  const session = new Session({ agent: ref.agent, threadId: ref.threadId }, carried ?? null, { oneTurn: true });
  const scope = new CancellationScope();
  registerHandlers(session, () => scope.cancel());
  CancellationScope.current().cancelRequested.catch(async () => {
    await session.activity(() => store.cancel({ turnId: ref.turnId, reason: 'cancelled from Temporal', workflowId: ref.workflowId }));
    session.cancel(ref.turnId);
    scope.cancel();
  });
  await CancellationScope.nonCancellable(async () => {
    try {
      await oneTurn(session, ref, scope);
      await condition(allHandlersFinished);
    } catch (error) {
      if (!(error instanceof Rollover)) throw error;
      await session.noted();
      await condition(allHandlersFinished);
      await continueAsNew<typeof detachedWork>(ref, session.carry());
    }
  });
}

async function oneTurn(session: Session, ref: DetachedRef, scope: CancellationScope): Promise<void> {
  if (session.running === null) {
    const opened = await session.activity(() => store.open({ turnId: ref.turnId, ...session.ref }));
    if (opened.ended !== null) return;
    session.begin(opened);
  }
  if (ref.undoes) await undo(session, session.running!, scope);
  else await runTurn(session, session.running!, scope);
}

/** The one effect, with its own approval and conditions, and then the end (D29). No model is asked. */
async function undo(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<void> {
  if (turn.calls === null) {
    const call = await session.activity(() => store.openCompensation({ turnId: turn.turnId }));
    turn.calls = call === null ? [] : [{ ref: call, phase: 'start', proposal: null, generation: null, beforeMs: null, unsent: 0 }];
  }
  await runCalls(session, turn, turn.calls, scope);
  await session.noted();
  await session.activity(() => store.endCompensation({ turnId: turn.turnId }));
}
