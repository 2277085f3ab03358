import { CancellationScope, allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import type { ChildRef } from '../contracts/steps.js';
import { store } from './activities.js';
import { openTurn } from './definition.js';
import { registerHandlers } from './handlers.js';
import { Rollover, Session } from './session.js';
import type { Carried } from './session.js';
import { runTurn } from './turn.js';

/** A child agent: one turn with its own effects and approvals, decided like any other under its own workflow id (D26, D32). */
export async function childAgent(child: ChildRef, carried?: Carried): Promise<void> {
  const session = new Session({ agent: child.agent, threadId: child.threadId }, carried ?? null, { oneTurn: true });
  const scope = new CancellationScope();
  registerHandlers(session, () => scope.cancel());
  let cancelling = Promise.resolve();
  CancellationScope.current().cancelRequested.catch(() => {
    cancelling = cancelTurn(session, child, scope);
  });
  await CancellationScope.nonCancellable(async () => {
    try {
      await oneTurn(session, child, scope);
      await condition(allHandlersFinished);
    } catch (error) {
      if (!(error instanceof Rollover)) throw error;
      await session.noted();
      await condition(allHandlersFinished);
      // Last: the new run hears of a cancel of this one only by what is carried over.
      await cancelling;
      await continueAsNew<typeof childAgent>(child, session.carry());
    }
  });
}

async function cancelTurn(session: Session, child: ChildRef, scope: CancellationScope): Promise<void> {
  await session.activity(() => store.cancel({ turnId: child.turnId, reason: 'the parent turn was cancelled', workflowId: child.workflowId }));
  session.cancel(child.turnId);
  scope.cancel();
}

async function oneTurn(session: Session, child: ChildRef, scope: CancellationScope): Promise<void> {
  const turn = session.running ?? (await openTurn(session, child.turnId));
  if (turn !== null) await runTurn(session, turn, scope);
}
