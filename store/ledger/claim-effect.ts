import type { JsonObject } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';

export interface EffectClaim {
  key: string;
  /** Null for the first dispatch; for a redispatch the generation that was judged (D17). */
  generation: number | null;
  /** Set for a resend under a key; refused after this time, milliseconds since the epoch: however long it waited, a forgotten key is not sent again (D13). */
  beforeMs: number | null;
  physicalCallId: string;
  timeoutMs: number;
}

export type EffectClaimed =
  | { kind: 'claimed'; generation: number; name: string; definitionDigest: string; args: JsonObject; argsDigest: string }
  | { kind: 'refused'; state: LedgerState; generation: number; cancelled: boolean };

interface Row {
  claimed: boolean;
  state: LedgerState;
  generation: number;
  name: string;
  definition_digest: string;
  args: JsonObject;
  args_digest: string;
  cancelled: boolean;
}

/**
 * Takes an effect for one physical call, before its first byte leaves (D10). One statement checks the state, the generation and that
 * the turn was not cancelled (a cancel marks the turns of all children), raises the generation and writes the physical call; its commit is
 * the write-ahead mark. While the work of an earlier call goes on after its limit, only a resend under a key that the target remembers may begin
 * (domain/recovery.ts). The share lock on the turn orders it against a cancel: what a cancel did not see has begun before it was answered (D27).
 */
export async function claimEffect(db: Db, claim: EffectClaim): Promise<EffectClaimed> {
  const { rows } = await db.query<Row>(
    `with allowed as (
       select e.key, t.definition_digest from holdfast.ledger_entry e join holdfast.turn t on t.turn_id = e.turn_id
       where e.key = $1 and t.cancel_requested_at is null and t.ended_at is null
       for share of t
     ), claimed as (
       update holdfast.ledger_entry e set state = 'dispatched', version = e.version + 1, generation = e.generation + 1, dispatched_at = now(),
         inflight_until = now() + $4 * interval '1 millisecond', reason = null
       from allowed
       where e.key = allowed.key and e.kind = 'effect' and ($5::float8 is null or extract(epoch from now()) * 1000 < $5)
         and ($5 is not null or not exists (select from holdfast.physical_call p where p.key = e.key and p.ended_at is null and p.goes_on_until > now()))
         and ((e.state = 'pending' and $2::int is null) or (e.state in ('dispatched', 'unknown') and e.generation = $2::int))
       returning e.key, e.state, e.generation, e.args, e.args_digest, e.name, coalesce(e.definition_digest, allowed.definition_digest) as definition_digest
     ), physical as (
       insert into holdfast.physical_call (id, key, generation) select $3, key, generation from claimed
     )
     select true as claimed, state, generation, args, args_digest, name, definition_digest, false as cancelled from claimed
     union all
     select false, state, generation, args, args_digest, name, '', not exists (select from allowed) from holdfast.ledger_entry
     where key = $1 and not exists (select from claimed)`,
    [claim.key, claim.generation, claim.physicalCallId, claim.timeoutMs, claim.beforeMs],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`ledger entry ${claim.key} is not stored`);
  if (!row.claimed) return { kind: 'refused', state: row.state, generation: row.generation, cancelled: row.cancelled };
  return { kind: 'claimed', generation: row.generation, name: row.name, definitionDigest: row.definition_digest, args: row.args, argsDigest: row.args_digest };
}
