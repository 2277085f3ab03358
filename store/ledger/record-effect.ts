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
}

/**
 * Records how a physical call ended and answers the entry's state, or null when a newer generation owns the entry (D17). A rejection does not
 * settle an entry while an earlier call of it may still have had its effect (D15).
 */
export async function recordEffect(db: Db, record: EffectRecord): Promise<LedgerState | null> {
  const { rows } = await db.query<{ state: LedgerState | null }>(
    `with recorded as (
       update ledger_entry e set version = e.version + 1, external_id = $5, result = $6, reason = $7,
         state = case when $4 in ('failed', 'conflict') and exists (
           select from physical_call p where p.key = e.key and p.id <> $3 and p.outcome in ('open', 'uncertain')) then 'unknown' else $4 end
       where e.key = $1 and e.generation = $2 and e.state = 'dispatched'
       returning e.state
     ), physical as (
       update physical_call set ended_at = now(), outcome = $8, note = $7 where id = $3
     )
     select (select state from recorded) as state`,
    [record.key, record.generation, record.physicalCallId, record.state, record.externalId, JSON.stringify(record.result), record.note, record.call],
  );
  return rows[0]?.state ?? null;
}

/**
 * Keeps what a fenced worker learned too late (D17). A success settles an entry that is still `unknown`; in every other state it is evidence.
 */
export async function recordLateResult(db: Db, record: EffectRecord): Promise<LedgerState> {
  const { rows } = await db.query<{ state: LedgerState }>(
    `with noted as (
       insert into evidence (key, by, found, note) values ($1, 'late result', case when $2 then 'found' end, $3)
     ), settled as (
       update ledger_entry set state = 'reconciled', outcome = 'succeeded', external_id = $4, result = $5, version = version + 1, reason = null
       where key = $1 and state = 'unknown' and $2
       returning state
     )
     select state from settled union all select state from ledger_entry where key = $1 and not exists (select from settled)`,
    [record.key, record.call === 'succeeded', `physical call ${record.physicalCallId} of generation ${record.generation} ended late: ${record.note ?? record.call}`,
      record.externalId, JSON.stringify(record.result)],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`ledger entry ${record.key} is not stored`);
  return row.state;
}
