import type { DetachedRef } from '../../contracts/steps.js';
import type { Db } from '../pool.js';

/** What begins a detached turn starts its run at once; only one that was left behind waits longer than this, in seconds. */
const LEFT_BEHIND_S = 10;

/**
 * Detached turns that are stored and that no run has taken up, oldest first: what should have started them may have ended in between (D29, D30).
 * Work whose call was cancelled never begins (D27).
 */
export async function leftBehind(db: Db, limit: number): Promise<DetachedRef[]> {
  const { rows } = await db.query<DetachedRef>(
    `select u.agent, u.thread_id as "threadId", u.turn_id as "turnId", u.workflow_id as "workflowId", d.kind = 'compensation' as undoes
     from holdfast.turn u join holdfast.detached d using (turn_id) join holdfast.ledger_entry e on e.key = d.key
     where u.status = 'queued' and d.created_at < now() - $1 * interval '1 second' and (d.kind = 'compensation' or e.state <> 'cancelled')
     order by d.ordinal limit $2`,
    [LEFT_BEHIND_S, limit],
  );
  return rows;
}
