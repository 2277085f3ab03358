import type { Db } from '../pool.js';

/**
 * Makes a stored input part of a running turn of its conversation (D4): its text goes to the model before step `beforeStep`. With
 * `answerKey` it is the answer to that waiting step instead; says whether that step has its answer. Repeats change nothing.
 */
export async function attachInput(db: Db, inputId: string, into: string, beforeStep: number, answerKey: string | null): Promise<boolean> {
  const { rows } = await db.query<{ answered: boolean }>(
    `with merged as (
       update holdfast.turn set merged_into = $2, merged_step = case when $4::text is null then $3::int end, status = 'completed', ended_at = now()
       where turn_id = $1 and merged_into is null and ended_at is null and cancel_requested_at is null
         and (agent, thread_id) = (select agent, thread_id from holdfast.turn where turn_id = $2 and ended_at is null)
       returning input ->> 'text' as text
     ), answered as (
       update holdfast.ledger_entry set state = 'succeeded', version = version + 1, result = to_jsonb(merged.text)
       from merged where key = $4 and kind = 'input' and state = 'pending'
       returning key
     )
     select exists (select from answered) or exists (select from holdfast.ledger_entry where key = $4 and state = 'succeeded') as answered`,
    [inputId, into, beforeStep, answerKey],
  );
  return rows[0]?.answered === true;
}
