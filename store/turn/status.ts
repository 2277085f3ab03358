import type { TurnStatus } from '../../contracts/turn.js';
import type { Db } from '../pool.js';

/** Notes what an open turn is doing or waiting for. A turn that is being cancelled stays `cancelling`. */
export async function noteStatus(db: Db, turnId: string, status: TurnStatus, reason: string | null): Promise<void> {
  await db.query(
    `update holdfast.turn set status = $2, reason = $3
     where turn_id = $1 and ended_at is null and merged_into is null and status <> 'cancelling'`,
    [turnId, status, reason],
  );
}
