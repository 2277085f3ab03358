import type { DetachedRef } from '../../contracts/steps.js';
import { effectOf } from '../../domain/effect-of.js';
import { callKey, turnIdOf, workflowIdOf } from '../../domain/keys.js';
import { fillArgs } from '../../domain/template.js';
import type { JsonObject } from '../../contracts/json.js';
import { loadDefinition } from '../definition.js';
import { digestOf, sha256Hex } from '../hash.js';
import type { Db } from '../pool.js';
import { createCompensation, loadUndoable } from './compensation.js';
import type { Undoable, UndoRefusal } from './compensation.js';

/** Who wants an effect undone. `by`: null when the policy does it; the person who asked for the effect counts as the one who asks then. */
export interface UndoRequest {
  key: string;
  by: string | null;
  reason: string | null;
}

export type UndoBegun = { kind: 'begun'; ref: DetachedRef; repeat: boolean } | { kind: 'refused'; code: UndoRefusal | 'no_compensation' };

/**
 * Creates what undoes an effect (D29): a turn of its own with one effect, under a key, an approval and conditions of its own. At most one is open
 * for an effect, which a repeat finds, and none begins after one has succeeded. Run it in a transaction.
 */
export async function beginCompensation(db: Db, request: UndoRequest): Promise<UndoBegun> {
  const undoable = await loadUndoable(db, request.key);
  if (typeof undoable === 'string') return { kind: 'refused', code: undoable };
  if (undoable.open !== null) return { kind: 'begun', ref: undoable.open, repeat: true };
  const definition = await loadDefinition(db, undoable.definitionDigest);
  const undo = effectOf(definition, effectOf(definition, undoable.effect)?.compensatedBy ?? '');
  if (undo?.compensates == null) return { kind: 'refused', code: 'no_compensation' };
  const requestId = `undo ${undoable.tries + 1}`;
  const threadId = `undo ${request.key}`;
  const { agent } = undoable;
  const ref: DetachedRef = { agent, threadId, turnId: turnIdOf(agent, threadId, requestId, sha256Hex), workflowId: workflowIdOf(agent, threadId, sha256Hex), undoes: true };
  const args = fillArgs(undo.compensates.args, { groups: valuesOf(undoable), result: null });
  const text = `Undo ${undoable.effect}${undoable.externalId === null ? '' : ` (${undoable.externalId})`}.`;
  await createCompensation(db, {
    turnId: ref.turnId, agent, threadId, workflowId: ref.workflowId, requestId, definitionDigest: undoable.definitionDigest, undoes: request.key, effect: undo.name,
    effectKey: callKey(ref.turnId, 1, 0), args, argsDigest: digestOf(args), needsApproval: undo.approval !== null,
    text, inputDigest: digestOf({ text }), requester: request.by ?? undoable.requester, reason: request.reason,
  });
  return { kind: 'begun', ref, repeat: false };
}

/** What placeholders stand for: the external id, and the arguments that are plain values. */
function valuesOf({ externalId, args }: Undoable): Record<string, string> {
  const plain = Object.entries(args as JsonObject).flatMap(([name, value]): [string, string][] => (value === null || typeof value === 'object' ? [] : [[name, String(value)]]));
  return { ...Object.fromEntries(plain), external_id: externalId ?? '' };
}
