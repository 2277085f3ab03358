import type { JsonObject } from '../../contracts/json.js';
import type { OpenCallFacts } from '../../domain/migration.js';
import type { TurnStatus } from '../../contracts/turn.js';
import type { Db } from '../pool.js';

/** A turn as its migration needs it. `digest` is null before it has begun. */
export interface TurnToMigrate {
  turnId: string;
  agent: string;
  workflowId: string;
  status: TurnStatus;
  ended: boolean;
  digest: string | null;
  requester: string;
}

/** With `lock` until the end of the transaction: claims, decisions and the turn's end wait, and see the outcome (D17, D22, D31). */
export async function turnToMigrate(db: Db, turnId: string, lock: boolean): Promise<TurnToMigrate | null> {
  const { rows } = await db.query<TurnToMigrate>(
    `select turn_id as "turnId", agent, workflow_id as "workflowId", status, ended_at is not null or merged_into is not null as ended,
       definition_digest as digest, requester
     from holdfast.turn where turn_id = $1 ${lock ? 'for no key update' : ''}`,
    [turnId],
  );
  return rows[0] ?? null;
}

/** A call that is not finished, with its newest proposal version. */
export interface OpenCall extends Omit<OpenCallFacts, 'oldUsable'> {
  key: string;
  step: number;
  index: number;
  args: JsonObject;
  digest: string;
  approvalId: string | null;
  version: number;
  hash: string;
  /** Milliseconds since the epoch, of the newest proposal version. */
  expiresAt: number;
}

export async function openCalls(db: Db, turnId: string): Promise<OpenCall[]> {
  const { rows } = await db.query<OpenCall>(
    `select e.key, e.kind, e.name, e.state, e.step, e.idx as index, e.args, e.needs_approval as "needsApproval",
       coalesce(e.definition_digest, t.definition_digest) as digest, p.approval_id as "approvalId", coalesce(p.version, 0) as version, coalesce(p.hash, '') as hash,
       coalesce(extract(epoch from p.expires_at) * 1000, 0)::float8 as "expiresAt",
       case when p.approval_id is null then null when p.state = 'pending' and p.expires_at <= now() then 'over'
         when p.state in ('pending', 'approved') then p.state else 'over' end as proposal
     from holdfast.ledger_entry e join holdfast.turn t using (turn_id) left join lateral (
       select approval_id, version, hash, state, expires_at from holdfast.proposal where key = e.key order by version desc limit 1) p on true
     where e.turn_id = $1 and e.kind in ('effect', 'child') and e.state in ('pending', 'dispatched', 'unknown') order by e.step, e.idx`,
    [turnId],
  );
  return rows;
}

/** Unfinished turns of child agents that this turn called; each is pinned by itself (D32, D34). */
export async function openChildTurns(db: Db, turnId: string): Promise<string[]> {
  const { rows } = await db.query<{ turn_id: string }>(
    `select c.turn_id from holdfast.ledger_entry opener join holdfast.turn c on c.parent_key = opener.key and c.ended_at is null
     where opener.turn_id = $1 order by c.ordinal`,
    [turnId],
  );
  return rows.map((row) => row.turn_id);
}
