import { CancellationScope, allHandlersFinished, condition } from '@temporalio/workflow';
import type { ChildRef } from '../contracts/steps.js';
import { store } from './activities.js';
import type { CarriedState } from './carried.js';
import { openTurn } from './definition.js';
import { registerHandlers } from './handlers.js';
import { Rollover, Session } from './session.js';
import type { Carried, TurnProgress } from './session.js';

/** A workflow of one turn. `run` takes it to its end, `again` continues as new with what is carried over (D1). */
export interface SingleTurn {
  ref: ChildRef;
  carried: CarriedState | null;
  /** What is noted when the workflow itself is cancelled. */
  cancelReason: string;
  run(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<unknown>;
  again(carried: Carried): Promise<never>;
}

/** Runs one turn that is decided, settled and cancelled under a workflow id of its own (D26, D27). */
export async function runSingleTurn({ ref, carried, cancelReason, run, again }: SingleTurn): Promise<void> {
  const session = new Session({ agent: ref.agent, threadId: ref.threadId }, carried, { oneTurn: true });
  const scope = new CancellationScope();
  registerHandlers(session, () => scope.cancel());
  let cancelling = Promise.resolve();
  CancellationScope.current().cancelRequested.catch(() => {
    cancelling = cancelTurn(session, ref, cancelReason, scope);
  });
  await CancellationScope.nonCancellable(async () => {
    try {
      const turn = session.running ?? (await openTurn(session, ref.turnId));
      if (turn !== null) await run(session, turn, scope);
      await condition(allHandlersFinished);
    } catch (error) {
      if (!(error instanceof Rollover)) throw error;
      await session.noted();
      await condition(allHandlersFinished);
      // Last: the new run hears of a cancel of this one only by what is carried over.
      await cancelling;
      await again(session.carry());
    }
  });
}

async function cancelTurn(session: Session, { turnId, workflowId }: ChildRef, reason: string, scope: CancellationScope): Promise<void> {
  await session.activity(() => store.cancel({ turnId, reason, workflowId }));
  session.cancel(turnId);
  scope.cancel();
}
