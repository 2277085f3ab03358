import { continueAsNew } from '@temporalio/workflow';
import type { ChildRef } from '../contracts/steps.js';
import type { CarriedState } from './carried.js';
import { runSingleTurn } from './single-turn.js';
import { runTurn } from './turn.js';

/** A child agent: one turn with its own effects and approvals (D32). */
export async function childAgent(child: ChildRef, carried?: CarriedState): Promise<void> {
  await runSingleTurn({
    ref: child, carried: carried ?? null, cancelReason: 'the parent turn was cancelled', run: runTurn,
    again: (kept) => continueAsNew<typeof childAgent>(child, kept),
  });
}
