import { continueAsNew } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { DetachedRef } from '../contracts/steps.js';
import { store } from './activities.js';
import { withDefinition } from './definition.js';
import type { CarriedState } from './carried.js';
import type { Session, TurnProgress } from './session.js';
import { runSingleTurn } from './single-turn.js';
import { newCall, runCalls, runTurn } from './turn.js';

/** A turn that outlives the one that began it: detached work (D30), or an effect that undoes another one (D29). */
export async function detachedWork(ref: DetachedRef, carried?: CarriedState): Promise<void> {
  await runSingleTurn({
    ref, carried: carried ?? null, cancelReason: 'cancelled from Temporal', run: ref.undoes ? undo : runTurn,
    again: (kept) => continueAsNew<typeof detachedWork>(ref, kept),
  });
}

/** The one effect, with its own approval and conditions, and then the end (D29). No model is asked. */
async function undo(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<void> {
  const { turnId } = turn;
  if (turn.calls === null) {
    const call = await withDefinition(session, turnId, () => session.activity(() => store.openCompensation({ turnId })));
    turn.calls = call === null ? [] : [newCall(call, false)];
  }
  await runCalls(session, turn, turn.calls, scope);
  await session.noted();
  await session.activity(() => store.endCompensation({ turnId }));
}
