import type { Json } from '../../contracts/json.js';
import type { Db } from '../pool.js';

export interface CallFinish {
  key: string;
  generation: number;
  physicalCallId: string;
  state: 'succeeded' | 'failed' | 'cancelled';
  result: Json;
  reason: string | null;
  inputTokens: number;
  outputTokens: number;
  /** What it cost, in millionths of a US dollar. */
  costMicros: number;
}

/** Stores the result of a call; false when a newer generation owns it (D17). */
export async function finishCall(db: Db, finish: CallFinish): Promise<boolean> {
  const { rows } = await db.query<{ stored: boolean }>(
    `with stored as (
       update holdfast.ledger_entry set state = $3, result = $4, reason = $5, input_tokens = $6, output_tokens = $7, cost_micros = $9, version = version + 1
       where key = $1 and generation = $2 and state = 'dispatched'
       returning key
     ), physical as (
       update holdfast.physical_call set ended_at = now(), outcome = case when $3 = 'succeeded' then 'succeeded' else 'rejected' end, note = $5
       where id = $8 and outcome not in ('succeeded', 'rejected', 'not_sent')
     )
     select exists (select from stored) as stored`,
    [finish.key, finish.generation, finish.state, JSON.stringify(finish.result), finish.reason, finish.inputTokens, finish.outputTokens, finish.physicalCallId, finish.costMicros],
  );
  return rows[0]?.stored === true;
}

/** Notes how one physical call went wrong; the entry stays as it is, to be called again or given up. */
export async function notePhysicalCall(db: Db, physicalCallId: string, outcome: 'rejected' | 'not_sent' | 'uncertain', note: string): Promise<void> {
  await db.query(`update holdfast.physical_call set ended_at = now(), outcome = $2, note = $3 where id = $1 and outcome = 'open'`, [physicalCallId, outcome, note]);
}

/** Gives a call up after its last attempt: it failed, and the model is told why. */
export async function failCall(db: Db, key: string, reason: string): Promise<void> {
  await db.query(
    `update holdfast.ledger_entry set state = 'failed', reason = $2, version = version + 1 where key = $1 and kind <> 'effect' and state in ('pending', 'dispatched')`,
    [key, reason],
  );
}
