import { z } from 'zod';
import type { UndoRefusal } from '../contracts/compensation.js';
import { userSchema } from '../contracts/principal.js';
import type { DetachedRef } from '../contracts/steps.js';
import { soundText } from '../contracts/text.js';
import { undoRefusalText } from '../domain/undo-refusal.js';
import { beginCompensation } from '../store/detached/begin-compensation.js';
import { inTransaction } from '../store/pool.js';
import { DETACHED_WORK, detachedStart } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { HoldfastError } from './errors.js';
import { parseInput } from './parse.js';

/** What became of the wish to undo an effect (D29). `turnId`: the turn that undoes it, with an approval of its own where its policy asks for one. */
export type CompensationAnswer =
  | { result: 'begun' | 'being_undone'; turnId: string; workflowId: string }
  | { result: 'refused'; code: UndoRefusal; message: string };

const optionsSchema = z.strictObject({ as: userSchema, reason: soundText(2000).trim().min(1, 'a reason is required') });

/**
 * A person's wish to undo an effect that was done: a new effect with its own key, approval and conditions, which may fail (D29). A repeat meets the
 * one that is open, and takes its turn up where no run does (any more).
 */
export async function compensate(context: ClientContext, key: string, options: { as: string; reason: string }): Promise<CompensationAnswer> {
  const { as, reason } = parseInput(optionsSchema, options, 'The wish to undo');
  const begun = await inTransaction(context.pool, (db) => beginCompensation(db, { key, by: as, reason }));
  const open = begun.kind === 'refused' ? begun.open : begun.ref;
  if (open !== null) await start(context, open);
  if (begun.kind === 'refused') return { result: 'refused', code: begun.code, message: undoRefusalText(begun.code, begun.detail) };
  const { turnId, workflowId } = begun.ref;
  return { result: begun.repeat ? 'being_undone' : 'begun', turnId, workflowId };
}

async function start(context: ClientContext, ref: DetachedRef): Promise<void> {
  const outcome = await callTemporal(context, ref.workflowId, () => context.temporal.workflow.start(DETACHED_WORK, detachedStart(ref, context.taskQueue)));
  if (outcome.kind !== 'answered') throw new HoldfastError('refused', 'The undoing was stored but could not be started. Ask for it again.');
}
