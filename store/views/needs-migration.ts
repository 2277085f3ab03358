import type { Db } from '../pool.js';

/** Turns that are told of a new worker at most; the others look again by themselves. */
const MOST = 1000;

/** Conversations with a turn that waits for a definition that its build cannot use, the oldest first (D34). */
export async function workflowsThatNeedMigration(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ workflow_id: string }>(
    `select workflow_id from holdfast.turn where status = 'needs_migration' and ended_at is null order by ordinal limit $1`, [MOST],
  );
  return rows.map((row) => row.workflow_id);
}
