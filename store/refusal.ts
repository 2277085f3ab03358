import { storable } from '../domain/text.js';
import type { Db } from './pool.js';

/** Keeps what was sent by hand and refused, so that it does not vanish without a trace (D5). */
export async function recordRefusal(db: Db, workflowId: string, kind: string, message: string): Promise<void> {
  await db.query('insert into refusal (workflow_id, kind, message) values ($1, $2, $3)', [workflowId, kind, storable(message)]);
}
