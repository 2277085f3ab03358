import type { Json } from '../../contracts/json.js';
import type { EntryKind, LedgerState } from '../../contracts/ledger.js';
import type { Db } from '../pool.js';

export interface CallClaim {
  key: string;
  turnId: string;
  step: number;
  idx: number;
  kind: Extract<EntryKind, 'model' | 'child' | 'summary'>;
  name: string;
  physicalCallId: string;
  timeoutMs: number;
  /** What the call is made under; a claim by a later definition, after a migration, replaces it (D9, D34). */
  definitionDigest: string;
  /** The most that a paid call can use, in tokens and millionths of a dollar; null when the entry itself pays for nothing (D33). */
  reserve: Reserve | null;
}

export interface Reserve {
  tokens: number;
  micros: number;
}

/** `claimed`: this worker may call. `stored`: the result is already there and must be used (D12), with the definition that it was made under. */
export type CallClaimed = { kind: 'claimed'; generation: number } | { kind: 'stored'; state: LedgerState; result: Json; definitionDigest: string };

/**
 * Takes a call that is safe to repeat, or finds its stored result. Raising the generation fences the worker before (D17).
 * Rejects when the budget does not allow it, see store/turn/budget.ts.
 */
export async function claimCall(db: Db, claim: CallClaim): Promise<CallClaimed> {
  const { rows } = await db.query<{ generation: number | null; state: LedgerState; result: Json; digest: string }>(
    `with claimed as (
       insert into holdfast.ledger_entry as e (key, turn_id, step, idx, kind, name, state, version, generation, dispatched_at, inflight_until, reserved_tokens, reserved_micros, definition_digest)
       values ($1, $2, $3, $4, $5, $6, 'dispatched', 1, 1, now(), now() + $8 * interval '1 millisecond', $10, $11, $9)
       on conflict (key) do update set state = 'dispatched', version = e.version + 1, generation = e.generation + 1,
         dispatched_at = now(), inflight_until = now() + $8 * interval '1 millisecond',
         reserved_tokens = coalesce(e.reserved_tokens, $10), reserved_micros = coalesce(e.reserved_micros, $11), definition_digest = excluded.definition_digest
       where e.state in ('pending', 'dispatched')
       returning key, generation, state
     ), physical as (
       insert into holdfast.physical_call (id, key, generation) select $7, key, generation from claimed
     )
     select generation, state, null::jsonb as result, $9 as digest from claimed
     union all
     select null, state, result, coalesce(definition_digest, $9) from holdfast.ledger_entry where key = $1 and not exists (select from claimed)`,
    [claim.key, claim.turnId, claim.step, claim.idx, claim.kind, claim.name, claim.physicalCallId, claim.timeoutMs, claim.definitionDigest,
      claim.reserve?.tokens ?? null, claim.reserve?.micros ?? null],
  );
  const row = rows[0];
  if (row === undefined) return claimCall(db, claim);
  return row.generation === null ? { kind: 'stored', state: row.state, result: row.result, definitionDigest: row.digest } : { kind: 'claimed', generation: row.generation };
}
