import type { Db } from '../pool.js';

/**
 * Ends a turn that never began and that no workflow will begin (its sender died between storing and submitting).
 * False when a run has opened it, or it has ended.
 */
export async function cancelQueued(db: Db, turnId: string, reason: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update holdfast.turn set status = 'cancelled', reason = $2, cancel_requested_at = coalesce(cancel_requested_at, now()), ended_at = now()
     where turn_id = $1 and definition_digest is null and merged_into is null and ended_at is null`,
    [turnId, reason],
  );
  return rowCount === 1;
}
