import type { ChildRef } from '../../contracts/steps.js';
import type { Db } from '../pool.js';
import { lockedRoot } from './lock.js';

/**
 * Creates the turn of a child agent once, under its parent's root and requester, pinned to the digest its parent pinned (D32, D34). The share
 * lock on the root orders it against a cancel; the child of a cancelled parent is born cancelled (D27).
 */
export async function createChildTurn(db: Db, parentKey: string, child: ChildRef, digest: string, text: string, inputDigest: string): Promise<void> {
  await db.query(
    `with ${lockedRoot('(select turn_id from holdfast.ledger_entry where key = $4)')}, known_thread as (
       insert into holdfast.thread (agent, thread_id) values ($2, $3) on conflict do nothing
     )
     insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, requester, workflow_id, root_turn_id, parent_key, definition_digest,
       cancel_requested_at, reason, budgets, deadline_at)
     select $1, $2, $3, $4, $5, jsonb_build_object('text', $6::text), p.requester, $7, p.root_turn_id, $4, $8,
       p.cancel_requested_at, case when p.cancel_requested_at is not null then p.reason end, p.budgets, p.deadline_at
     from root, holdfast.ledger_entry e join holdfast.turn p using (turn_id) where e.key = $4
     for share of p
     on conflict do nothing`,
    [child.turnId, child.agent, child.threadId, parentKey, inputDigest, text, child.workflowId, digest],
  );
}

export async function turnOutcome(db: Db, turnId: string): Promise<{ status: string; text: string | null; reason: string | null }> {
  const { rows } = await db.query<{ status: string; text: string | null; reason: string | null }>('select status, text, reason from holdfast.turn where turn_id = $1', [turnId]);
  const row = rows[0];
  if (row === undefined) throw new Error(`turn ${turnId} is not stored`);
  return row;
}
