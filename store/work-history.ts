import type { Db } from './pool.js';

/** Stores a provisional summary of a call's result; it is committed with the turn's answer (W10). */
export async function saveSummary(db: Db, callKey: string, summary: string): Promise<void> {
  await db.query(
    `insert into holdfast.work_history (key, agent, thread_id, turn_id, child, summary)
     select e.key, t.agent, t.thread_id, t.turn_id, e.name, $2 from holdfast.ledger_entry e join holdfast.turn t using (turn_id) where e.key = $1
     on conflict (key) do nothing`,
    [callKey, summary],
  );
}
