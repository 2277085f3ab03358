import { storable } from '../domain/text.js';
import type { Db } from './pool.js';

export interface Refusal {
  /** What was refused: the same signal or input is kept once, however often its step runs. */
  id: string;
  workflowId: string;
  kind: string;
  message: string;
}

/** Keeps what was sent by hand and refused, so that it does not vanish without a trace (D5). */
export async function recordRefusal(db: Db, { id, workflowId, kind, message }: Refusal): Promise<void> {
  await db.query('insert into holdfast.refusal (source_id, workflow_id, kind, message) values ($1, $2, $3, $4) on conflict (source_id) do nothing', [
    id, workflowId, kind, storable(message),
  ]);
}
