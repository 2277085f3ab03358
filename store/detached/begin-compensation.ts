import type { UndoRefusal } from '../../contracts/compensation.js';
import type { AgentDefinition } from '../../contracts/definition.js';
import type { Compensation, EffectDefinition } from '../../contracts/effect.js';
import type { DetachedRef } from '../../contracts/steps.js';
import { compensationArgs } from '../../domain/compensation-args.js';
import { effectOf } from '../../domain/effect-of.js';
import { NeedsMigration } from '../../domain/failure.js';
import { callKey, turnIdOf, undoThreadOf, workflowIdOf } from '../../domain/keys.js';
import { loadDefinition } from '../definition.js';
import { digestOf, sha256Hex } from '../hash.js';
import type { Db } from '../pool.js';
import { createCompensation, loadUndoable } from './compensation.js';
import type { Undoable } from './compensation.js';

/** Who wants an effect undone. `by`: null when the policy does it; the person who asked for the effect counts as the one who asks then. */
export interface UndoRequest {
  key: string;
  by: string | null;
  reason: string | null;
}

/** `detail`: what the code is about (an entry's key, the name of a value, a reason). `open`: a turn that undoes it and has not ended yet. */
export interface UndoRefused {
  kind: 'refused';
  code: UndoRefusal;
  detail: string | null;
  open: DetachedRef | null;
}

export type UndoBegun = { kind: 'begun'; ref: DetachedRef; repeat: boolean } | UndoRefused;

/**
 * Creates what undoes an effect (D29): a turn of its own with one effect, under a key, an approval and conditions of its own. At most one is open
 * for an effect, which a repeat finds, and none begins while an earlier one has, or may have, undone it. Run it in a transaction.
 */
export async function beginCompensation(db: Db, request: UndoRequest): Promise<UndoBegun> {
  const undoable = await loadUndoable(db, request.key);
  if (undoable === null) return refused('unknown_entry');
  if (undoable.undone) return { ...refused('already_undone'), open: undoable.open };
  if (undoable.open !== null) return { kind: 'begun', ref: undoable.open, repeat: true };
  if (undoable.undecided !== null) return refused('undo_unknown', undoable.undecided);
  if (!undoable.done) return refused('not_done');
  const definition = await readable(db, undoable.definitionDigest);
  if (typeof definition === 'string') return refused('unusable_definition', definition);
  const undo = effectOf(definition, effectOf(definition, undoable.effect)?.compensatedBy ?? '');
  if (undo?.compensates == null) return refused('no_compensation');
  return create(db, request, undoable, { ...undo, compensates: undo.compensates });
}

function refused(code: UndoRefusal, detail: string | null = null): UndoRefused {
  return { kind: 'refused', code, detail, open: null };
}

/** A definition, or why this build cannot read it (D34). */
async function readable(db: Db, digest: string): Promise<AgentDefinition | string> {
  try {
    return await loadDefinition(db, digest);
  } catch (error) {
    if (error instanceof NeedsMigration) return error.problem;
    throw error;
  }
}

async function create(db: Db, request: UndoRequest, undoable: Undoable, undo: EffectDefinition & { compensates: Compensation }): Promise<UndoBegun> {
  const filled = compensationArgs(undo.compensates.args, undoable);
  if (filled.kind === 'missing') return refused('missing_value', filled.name);
  const { agent } = undoable;
  const requestId = `undo ${undoable.tries + 1}`;
  // A conversation for each try: the run of the one before may still be closing under its id (D1).
  const threadId = undoThreadOf(request.key, undoable.tries + 1);
  const ref: DetachedRef = { agent, threadId, turnId: turnIdOf(agent, threadId, requestId, sha256Hex), workflowId: workflowIdOf(agent, threadId, sha256Hex), undoes: true };
  const text = `Undo ${undoable.effect}${undoable.externalId === null ? '' : ` (${undoable.externalId})`}.`;
  await createCompensation(db, {
    turnId: ref.turnId, agent, threadId, workflowId: ref.workflowId, requestId, definitionDigest: undoable.definitionDigest, undoes: request.key, effect: undo.name,
    effectKey: callKey(ref.turnId, 1, 0), args: filled.args, argsDigest: digestOf(filled.args), needsApproval: undo.approval !== null,
    text, inputDigest: digestOf({ text }), requester: request.by ?? undoable.requester, reason: request.reason,
  });
  return { kind: 'begun', ref, repeat: false };
}
