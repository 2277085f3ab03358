import type { DetachedRef } from '../../contracts/steps.js';
import type { Db } from '../pool.js';
import { lockedRoot } from '../turn/lock.js';

export interface NewWork {
  /** The call that began it. */
  key: string;
  ref: DetachedRef;
  definitionDigest: string;
  text: string;
  inputDigest: string;
  maxLifeMs: number;
}

/**
 * Creates the turn of detached work once (D30): a root of its own, which the owner's cancel, end and budget do not reach, with its own
 * deadline. A repeat finds it. The owner's requester asks for it; the work of a cancelled turn is never begun (D27).
 */
export async function createWork(db: Db, work: NewWork): Promise<boolean> {
  const { rows } = await db.query<{ begun: boolean }>(
    `with ${lockedRoot('(select turn_id from holdfast.ledger_entry where key = $1)')}, owner as (
       select t.turn_id, t.requester, root.turn_id as root_id, root.agent, root.thread_id from root, holdfast.ledger_entry e join holdfast.turn t using (turn_id)
       where e.key = $1 and t.cancel_requested_at is null and root.cancel_requested_at is null
       for share of t
     ), known_thread as (
       insert into holdfast.thread (agent, thread_id) select $3, $4 from owner on conflict do nothing
     ), begun as (
       insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, requester, workflow_id, root_turn_id, definition_digest, deadline_at)
       select $2, $3, $4, $1, $5, jsonb_build_object('text', $6::text), requester, $7, $2, $8, now() + $9 * interval '1 millisecond' from owner
       on conflict do nothing
       returning turn_id
     ), linked as (
       insert into holdfast.detached (turn_id, kind, key, owner_turn_id, agent, thread_id, asked_by)
       select begun.turn_id, 'work', $1, owner.root_id, owner.agent, owner.thread_id, owner.requester from begun, owner
     )
     select exists (select from begun) or exists (select from holdfast.turn where turn_id = $2) as begun`,
    [work.key, work.ref.turnId, work.ref.agent, work.ref.threadId, work.inputDigest, work.text, work.ref.workflowId, work.definitionDigest, work.maxLifeMs],
  );
  return rows[0]?.begun === true;
}
