import type { Json } from '../../contracts/json.js';
import type { LedgerState, LookupVerdict } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';

/** Every look-up is kept, also an inconclusive one (D15). */
export async function addEvidence(db: Db, evidence: { key: string; by: string; found: LookupVerdict | null; note: string }): Promise<void> {
  await db.query('insert into holdfast.evidence (key, by, found, note) values ($1, $2, $3, $4)', [evidence.key, evidence.by, evidence.found, evidence.note]);
}

/** Settles an open entry with what a look-up found; false when it was settled or dispatched again meanwhile. */
export async function settleFound(db: Db, key: string, generation: number, externalId: string | null, result: Json): Promise<boolean> {
  const { rowCount } = await db.query(
    `update holdfast.ledger_entry set state = 'reconciled', outcome = 'succeeded', external_id = $3, result = $4, version = version + 1, reason = null
     where key = $1 and generation = $2 and state in ('dispatched', 'unknown')`,
    [key, generation, externalId, JSON.stringify(result)],
  );
  return rowCount === 1;
}

/** A settled look-up proved that nothing has happened so far: these calls had no effect (D13). */
export async function markAbsent(db: Db, key: string, generation: number): Promise<void> {
  await db.query(
    `update holdfast.physical_call set outcome = 'absent', ended_at = coalesce(ended_at, now()) where key = $1 and generation <= $2 and outcome in ('open', 'uncertain')`,
    [key, generation],
  );
}

/** It cannot be known whether the effect happened: a person is asked (D13, D15). */
export async function markUnknown(db: Db, key: string, generation: number, reason: string): Promise<void> {
  await db.query(
    `with entry as (
       update holdfast.ledger_entry set state = 'unknown', version = version + 1, reason = $3 where key = $1 and generation = $2 and state = 'dispatched' returning key
     )
     update holdfast.physical_call set outcome = 'uncertain' where key = $1 and generation <= $2 and outcome = 'open' and exists (select from entry)`,
    [key, generation, reason],
  );
}

/** Whether every physical call of an effect, if there was one, is proven to have had none (D10). */
export async function hasHadNoEffect(db: Db, key: string): Promise<boolean> {
  const { rows } = await db.query<{ none: boolean }>('select holdfast.had_no_effect($1) as none', [key]);
  return rows[0]?.none === true;
}

/**
 * Ends an effect of which every try is proven to have had none: it was not done (D10). An entry with a try that may have had its effect
 * becomes `unknown` instead: nothing turns it into `failed` but proof (D15). One that is `unknown` already stays as it is, so that the version a
 * person saw stays valid (D16). Answers whether the entry is settled.
 */
export async function giveUpUnsent(db: Db, key: string, reason: string): Promise<boolean> {
  const { rows } = await db.query<{ state: LedgerState }>(
    `with changed as (
       update holdfast.ledger_entry e set version = e.version + 1, reason = case when proof.none then $2 else 'an earlier call of it may have had its effect' end,
         state = case when proof.none then (case e.state when 'unknown' then 'reconciled' else 'failed' end) else 'unknown' end,
         outcome = case when proof.none and e.state = 'unknown' then 'failed' end
       from (select holdfast.had_no_effect($1) as none) proof
       where e.key = $1 and (e.state = 'dispatched' or (e.state = 'unknown' and proof.none))
       returning e.state
     )
     select coalesce((select state from changed), e.state) as state from holdfast.ledger_entry e where e.key = $1`,
    [key, reason],
  );
  return rows[0]?.state !== 'unknown';
}

/** Effects that were refused before any call: a target condition no longer held (D25), or their preview could not be made. */
export async function refuseEffect(db: Db, key: string, reason: string): Promise<void> {
  await db.query(`update holdfast.ledger_entry set state = 'failed', reason = $2, version = version + 1 where key = $1 and state = 'pending'`, [key, reason]);
}

/**
 * Open entries that can be looked up and whose physical call can no longer be on its way: work for the sweep (D15). Those that were not looked
 * at for the longest time come first, so that none starves behind others.
 */
export async function openEffects(db: Db, limit: number): Promise<{ key: string; workflowId: string }[]> {
  const { rows } = await db.query<{ key: string; workflowId: string }>(
    `select e.key, t.workflow_id as "workflowId" from holdfast.ledger_entry e join holdfast.turn t using (turn_id)
     where e.kind = 'effect' and e.state in ('dispatched', 'unknown') and e.inflight_until < now()
       and exists (select from holdfast.definition d, jsonb_array_elements((d.body -> 'effects') || coalesce(d.body -> 'compensations', '[]')) effect
         where d.digest = coalesce(e.definition_digest, t.definition_digest) and effect ->> 'name' = e.name and jsonb_typeof(effect -> 'lookup') = 'object')
     order by coalesce((select max(v.at) from holdfast.evidence v where v.key = e.key), e.inflight_until) limit $1`,
    [limit],
  );
  return rows;
}
