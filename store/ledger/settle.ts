import type { LedgerState } from '../../contracts/ledger.js';
import type { SettleAnswer } from '../../contracts/steps.js';
import type { Db } from '../pool.js';

export interface SettleEntry {
  key: string;
  version: number;
  outcome: 'succeeded' | 'failed' | 'retry';
  externalId: string | null;
  reason: string;
  by: string;
  /** The conversation that was asked: only the entry's own is woken by it (D16). Null: its run has closed. */
  workflowId: string | null;
}

interface Row {
  changed: boolean;
  /** The same word of the same person is what stands: this step ran before and its answer got lost (D2). */
  repeated: boolean;
  state: LedgerState;
  version: number;
  generation: number;
  ended: boolean;
  /** The work of its last call outlived its time limit and still runs (D15). */
  goesOn: boolean;
  workflowId: string;
}

/**
 * Settles an unknown effect by a person's word, against the version that they saw (D16). `retry` only permits the owning step to dispatch
 * again, so it needs an open turn and that nothing of it still runs. The reason is kept as evidence. An identical repeat gets the same answer.
 */
export async function settleEntry(db: Db, settle: SettleEntry): Promise<SettleAnswer> {
  const { rows } = await db.query<Row>(
    `with seen as (
       select e.key, t.ended_at is not null or t.cancel_requested_at is not null as ended, t.workflow_id,
         exists (select from holdfast.physical_call p where p.key = e.key and p.ended_at is null and p.goes_on_until > now()) as goes_on
       from holdfast.ledger_entry e join holdfast.turn t using (turn_id) where e.key = $1 and e.kind = 'effect'
     ), changed as (
       update holdfast.ledger_entry e set version = e.version + 1,
         state = case when $3 = 'retry' then 'unknown' else 'reconciled' end, outcome = case when $3 <> 'retry' then $3 end,
         external_id = coalesce($4, e.external_id), reason = $5
       from seen where e.key = seen.key and e.version = $2 and e.state = 'unknown' and not ($3 = 'retry' and (seen.ended or seen.goes_on))
         and seen.workflow_id = coalesce($7, seen.workflow_id)
       returning e.key, e.state, e.version, e.generation, seen.ended, seen.goes_on, seen.workflow_id
     ), noted as (
       insert into holdfast.evidence (key, by, note) select key, $6, 'settled as ' || $3 || ': ' || $5 from changed
     )
     select true as changed, false as repeated, state, version, generation, ended, goes_on as "goesOn", workflow_id as "workflowId" from changed
     union all
     select false, e.version = $2 + 1 and exists (select from holdfast.evidence v where v.key = e.key and v.by = $6 and v.note = 'settled as ' || $3 || ': ' || $5), e.state, e.version, e.generation, seen.ended, seen.goes_on, seen.workflow_id
     from holdfast.ledger_entry e join seen using (key) where not exists (select from changed)`,
    [settle.key, settle.version, settle.outcome, settle.externalId, settle.reason, settle.by, settle.workflowId],
  );
  return answer(settle, rows[0]);
}

function answer(settle: SettleEntry, row: Row | undefined): SettleAnswer {
  if (row === undefined) return { result: 'refused', code: 'unknown_entry', message: `there is no effect with the key ${settle.key}` };
  if (row.changed || row.repeated) return { result: settle.outcome === 'retry' ? 'retrying' : 'settled', key: settle.key, version: row.version, generation: row.generation };
  if (settle.workflowId !== null && settle.workflowId !== row.workflowId) {
    return { result: 'refused', code: 'unknown_entry', message: `the entry belongs to the workflow ${row.workflowId}; settle there` };
  }
  if (row.state !== 'unknown') return { result: 'refused', code: 'not_unknown', message: `the entry is ${row.state}, only an unknown one can be settled` };
  if (row.version !== settle.version) {
    return { result: 'refused', code: 'stale_version', message: `the entry has changed to version ${row.version}; look at it again` };
  }
  if (!row.ended && row.goesOn) {
    return { result: 'refused', code: 'still_running', message: 'the work of its last call has outlived its time limit and still runs; wait for its end, or settle it as succeeded or failed' };
  }
  return { result: 'refused', code: 'turn_finished', message: 'the turn has ended, so nothing can dispatch the effect again; settle it as succeeded or failed' };
}
