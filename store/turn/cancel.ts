import type { TurnStatus } from '../../contracts/turn.js';
import type { Db } from '../pool.js';

/**
 * Marks a turn as cancelled before anyone is told so: from then on no effect of it can be claimed (D27, case 36). Says
 * whether the turn had already ended; the row lock orders this against the turn's own end (D31).
 */
export async function requestCancel(db: Db, turnId: string, reason: string | null): Promise<{ status: TurnStatus; cancelling: boolean } | null> {
  const { rows } = await db.query<{ status: TurnStatus; cancelling: boolean }>(
    `with target as (
       select coalesce(merged_into, turn_id) as turn_id from turn where turn_id = $1
     ), marked as (
       update turn t set cancel_requested_at = coalesce(cancel_requested_at, now()), status = 'cancelling', reason = coalesce($2, t.reason)
       from target where t.turn_id = target.turn_id and t.ended_at is null
       returning t.status
     )
     select status, true as cancelling from marked
     union all
     select t.status, false from turn t join target using (turn_id) where not exists (select from marked)`,
    [turnId, reason],
  );
  return rows[0] ?? null;
}
