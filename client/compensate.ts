import { z } from 'zod';
import { userSchema } from '../contracts/principal.js';
import { soundText } from '../contracts/text.js';
import { beginCompensation } from '../store/detached/begin-compensation.js';
import { inTransaction } from '../store/pool.js';
import { DETACHED_WORK, WORKFLOW_TASK_TIMEOUT } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { HoldfastError } from './errors.js';
import { parseInput } from './parse.js';

/** What became of the wish to undo an effect (D29). `turnId`: the turn that undoes it, with an approval of its own where its policy asks for one. */
export type CompensationAnswer =
  | { result: 'begun' | 'being_undone'; turnId: string; workflowId: string }
  | { result: 'refused'; code: 'unknown_entry' | 'not_done' | 'already_undone' | 'no_compensation'; message: string };

const optionsSchema = z.strictObject({ as: userSchema, reason: soundText(2000).trim().min(1, 'a reason is required') });

/** A person's wish to undo an effect that was done: a new effect with its own key, approval and conditions, which may fail (D29). A repeat meets the one that is open. */
export async function compensate(context: ClientContext, key: string, options: { as: string; reason: string }): Promise<CompensationAnswer> {
  const { as, reason } = parseInput(optionsSchema, options, 'The wish to undo');
  const begun = await inTransaction(context.pool, (db) => beginCompensation(db, { key, by: as, reason }));
  if (begun.kind === 'refused') return { result: 'refused', code: begun.code, message: WHY[begun.code] };
  const { turnId, workflowId } = begun.ref;
  const outcome = await callTemporal(context, workflowId, () =>
    context.temporal.workflow.start(DETACHED_WORK, {
      workflowId, taskQueue: context.taskQueue, args: [begun.ref], workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT, workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  );
  if (outcome.kind !== 'answered') throw new HoldfastError('refused', 'The undoing was stored but could not be started. Ask for it again.');
  return { result: begun.repeat ? 'being_undone' : 'begun', turnId, workflowId };
}

const WHY = {
  unknown_entry: 'There is no effect with this key. "holdfast ledger list --kind effect" shows what there is.',
  not_done: 'It is not known to have been done, so there is nothing to undo. Settle it first if its outcome is unknown.',
  already_undone: 'It is undone already.',
  no_compensation: 'No effect of the agent undoes it. Declare one with compensates = "…" in the configuration.',
} as const;
