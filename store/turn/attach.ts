import type { Db } from '../pool.js';

/**
 * Makes a stored input part of a running turn (D4): its text goes to the model before step `beforeStep`. With `answerKey` it
 * is the answer to that waiting step instead. Repeats change nothing.
 */
export async function attachInput(db: Db, inputId: string, into: string, beforeStep: number, answerKey: string | null): Promise<void> {
  await db.query(
    `with merged as (
       update turn set merged_into = $2, merged_step = case when $4::text is null then $3::int end, status = 'completed', ended_at = now()
       where turn_id = $1 and merged_into is null and ended_at is null and cancel_requested_at is null
       returning input ->> 'text' as text
     )
     update ledger_entry set state = 'succeeded', version = version + 1, result = to_jsonb(merged.text)
     from merged where key = $4 and kind = 'input' and state = 'pending'`,
    [inputId, into, beforeStep, answerKey],
  );
}
