import type { Json } from '../../contracts/json.js';
import type { CallOutcome, LedgerState } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';

export interface EffectRecord {
  key: string;
  generation: number;
  physicalCallId: string;
  state: Extract<LedgerState, 'succeeded' | 'failed' | 'unknown' | 'conflict' | 'dispatched'>;
  call: Exclude<CallOutcome, 'open' | 'absent'>;
  externalId: string | null;
  result: Json;
  note: string | null;
  /** Set when the work behind the call goes on: it has not ended, and for so many milliseconds it counts as in flight. */
  goesOnMs?: number;
}

/**
 * Records how a physical call ended and answers the entry's state. Null: the result is late, because a newer generation owns the entry or it is
 * `unknown` already (D17). A rejection does not settle an entry while an earlier call of it may have had its effect, or is known to have had it
 * (D15, D17). What is known of the call already stays, and so does then the entry: a repeat, or a commit whose answer got lost, changes nothing and
 * answers how the entry stands.
 */
export async function recordEffect(db: Db, record: EffectRecord): Promise<LedgerState | null> {
  const { rows } = await db.query<{ state: LedgerState | null }>(
    `with refined as (
       select id from holdfast.physical_call where id = $3 and (outcome = $8 or outcome not in ('succeeded', 'rejected', 'not_sent'))
     ), recorded as (
       update holdfast.ledger_entry e set version = e.version + 1, external_id = $5, result = $6, reason = $7,
         state = case when $4 in ('failed', 'conflict') and exists (
           select from holdfast.physical_call p where p.key = e.key and p.id <> $3 and p.outcome in ('open', 'uncertain', 'succeeded')) then 'unknown' else $4 end
       where e.key = $1 and e.generation = $2 and e.state = 'dispatched' and exists (select from refined)
       returning e.state
     ), physical as (
       update holdfast.physical_call set outcome = $8, note = $7, ended_at = coalesce(ended_at, case when $9::float8 is null then now() end),
         goes_on_until = now() + $9::float8 * interval '1 millisecond'
       where id = $3 and outcome not in ('succeeded', 'rejected', 'not_sent')
     )
     select coalesce((select state from recorded), (
       select e.state from holdfast.ledger_entry e join holdfast.physical_call p on p.id = $3 where e.key = $1 and e.generation = $2
         and case when p.outcome in ('succeeded', 'rejected', 'not_sent') then e.state <> 'unknown' else p.outcome = $8 end)) as state`,
    [record.key, record.generation, record.physicalCallId, record.state, record.externalId, JSON.stringify(record.result), record.note, record.call, record.goesOnMs ?? null],
  );
  return rows[0]?.state ?? null;
}

/** The work behind a call that outlived its time limit still goes on; for so many milliseconds it counts as in flight. Its end, once known, stays. */
export async function noteGoesOn(db: Db, physicalCallId: string, ms: number): Promise<void> {
  await db.query(`update holdfast.physical_call set goes_on_until = now() + $2::float8 * interval '1 millisecond' where id = $1 and ended_at is null`, [physicalCallId, ms]);
}

export interface LateResult {
  state: LedgerState;
  /** The entry was `unknown`, so its conversation may wait for what was learned. */
  waited: boolean;
  workflowId: string;
}

/**
 * Keeps what a fenced worker learned too late (D17). A success settles an entry that is still `unknown`, and so does a rejection when no other
 * call of it may have had its effect; in every other state it is evidence.
 */
export async function recordLateResult(db: Db, record: EffectRecord): Promise<LateResult> {
  const { rows } = await db.query<LateResult>(
    `with noted as (
       insert into holdfast.evidence (key, by, found, note) values ($1, 'late result', case when $2 then 'found' end, $3)
     ), settled as (
       update holdfast.ledger_entry e set state = 'reconciled', outcome = case when $2 then 'succeeded' else 'failed' end, external_id = $4, result = $5,
         version = version + 1, reason = $6
       where key = $1 and state = 'unknown' and ($2 or ($7 and not exists (
         select from holdfast.physical_call p where p.key = e.key and p.outcome in ('open', 'uncertain', 'succeeded'))))
       returning key, state
     )
     select coalesce(s.state, e.state) as state, e.state = 'unknown' as waited, t.workflow_id as "workflowId"
     from holdfast.ledger_entry e join holdfast.turn t using (turn_id) left join settled s using (key) where e.key = $1`,
    [record.key, record.call === 'succeeded', `physical call ${record.physicalCallId} of generation ${record.generation} ended late: ${record.note ?? record.call}`,
      record.externalId, JSON.stringify(record.result), record.note, record.call === 'rejected'],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`ledger entry ${record.key} is not stored`);
  return row;
}
