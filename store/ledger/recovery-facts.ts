import type { JsonObject } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';

/** What the ledger knows of an effect whose outcome is open. Times in milliseconds by the database's clock. */
export interface RecoveryRow {
  key: string;
  turnId: string;
  name: string;
  state: LedgerState;
  generation: number;
  args: JsonObject;
  definitionDigest: string;
  workflowId: string;
  nowMs: number;
  firstDispatchedAtMs: number;
  inflightUntilMs: number;
  /** Until then the work of a call that outlived its time limit is believed to go on. */
  goesOnUntilMs: number | null;
  /** Every physical call is known to have ended. */
  callEnded: boolean;
  callEndedAtMs: number | null;
  /** Physical calls that may have had their effect. */
  triesMade: number;
  /** All physical calls. */
  dispatches: number;
  lastNote: string | null;
}

export async function recoveryFacts(db: Db, key: string): Promise<RecoveryRow> {
  const { rows } = await db.query<RecoveryRow>(
    `select e.key, e.turn_id as "turnId", e.name, e.state, e.generation, e.args, coalesce(e.definition_digest, t.definition_digest) as "definitionDigest", t.workflow_id as "workflowId",
       (extract(epoch from now()) * 1000)::float8 as "nowMs",
       (extract(epoch from coalesce(p.first, now())) * 1000)::float8 as "firstDispatchedAtMs",
       (extract(epoch from coalesce(e.inflight_until, now())) * 1000)::float8 as "inflightUntilMs",
       (extract(epoch from p.goes_on) * 1000)::float8 as "goesOnUntilMs",
       coalesce(p.all_ended, true) as "callEnded",
       (extract(epoch from p.last_end) * 1000)::float8 as "callEndedAtMs",
       coalesce(p.tries, 0)::int as "triesMade", coalesce(p.dispatches, 0)::int as dispatches, e.reason as "lastNote"
     from holdfast.ledger_entry e join holdfast.turn t using (turn_id) left join lateral (
       select min(started_at) as first, bool_and(ended_at is not null) as all_ended, max(ended_at) as last_end, max(goes_on_until) filter (where ended_at is null) as goes_on,
         count(*) as dispatches, count(*) filter (where outcome not in ('absent', 'not_sent')) as tries
       from holdfast.physical_call where key = e.key) p on true
     where e.key = $1 and e.kind = 'effect'`,
    [key],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`effect ${key} is not stored`);
  return row;
}
