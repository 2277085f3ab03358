import type { TurnStatus } from '../../contracts/turn.js';
import { inTransaction } from '../pool.js';
import type { Db, Pool } from '../pool.js';

/** `turnId` is the turn that was meant: an input that became part of a running turn means that one (D4). */
export interface CancelRequested {
  turnId: string;
  status: TurnStatus;
  cancelling: boolean;
}

export interface CancelToRequest {
  turnId: string;
  /** The conversation that was asked. */
  workflowId: string;
  reason: string;
}

/**
 * Marks a turn and every turn that its children opened as cancelled before anyone is told so: from then on no effect of them can be
 * claimed and no approval given (D26, D27, case 36). The lock on the root orders this against children that are being created, the
 * lock on each turn against its own end (D31). A repeat keeps the first reason.
 */
export async function requestCancel(pool: Pool, { turnId, workflowId, reason }: CancelToRequest): Promise<CancelRequested | { elsewhere: string } | null> {
  return inTransaction(pool, async (db) => {
    const turn = await lockTree(db, turnId);
    if (turn === null) return null;
    // Only its own workflow can interrupt a turn and end it when its calls have ended (D27).
    if (turn.workflow_id !== workflowId) return { elsewhere: turn.workflow_id };
    const target = turn.turn_id;
    // A statement of its own, so that it sees everything that was committed before the lock was given.
    const cancelling = await mark(db, target, reason);
    const { rows } = await db.query<{ status: TurnStatus }>('select status from holdfast.turn where turn_id = $1', [target]);
    const status = rows[0]?.status;
    return status === undefined ? null : { turnId: target, status, cancelling };
  });
}

async function lockTree(db: Db, turnId: string): Promise<{ turn_id: string; workflow_id: string } | null> {
  const { rows } = await db.query<{ turn_id: string; workflow_id: string }>(
    `select t.turn_id, t.workflow_id from holdfast.turn asked join holdfast.turn t on t.turn_id = coalesce(asked.merged_into, asked.turn_id) join holdfast.turn r on r.turn_id = t.root_turn_id
     where asked.turn_id = $1 for no key update of r`,
    [turnId],
  );
  return rows[0] ?? null;
}

async function mark(db: Db, turnId: string, reason: string): Promise<boolean> {
  const { rows } = await db.query<{ turn_id: string }>(
    `with recursive tree (turn_id, root_turn_id) as (
       select turn_id, root_turn_id from holdfast.turn where turn_id = $1
       union
       select c.turn_id, c.root_turn_id from tree join holdfast.turn c on c.root_turn_id = tree.root_turn_id and c.root_turn_id <> c.turn_id
         join holdfast.ledger_entry opener on opener.key = c.parent_key and opener.turn_id = tree.turn_id
     )
     update holdfast.turn t set status = 'cancelling', reason = case when t.cancel_requested_at is null then $2 else t.reason end,
       cancel_requested_at = coalesce(t.cancel_requested_at, now())
     from tree where t.turn_id = tree.turn_id and t.ended_at is null
     returning t.turn_id`,
    [turnId, reason],
  );
  return rows.some((row) => row.turn_id === turnId);
}
