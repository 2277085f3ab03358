import type { ApprovalState } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import type { Db } from '../pool.js';
import { lockedRoot } from '../turn/lock.js';

export interface ProposalRow {
  approvalId: string;
  version: number;
  key: string;
  turnId: string;
  workflowId: string;
  effect: string;
  hash: string;
  /** Hash of the version that this one replaced. */
  basedOn: string | null;
  args: JsonObject;
  argsDigest: string;
  state: ApprovalState;
  expiresAt: Date;
  expired: boolean;
  /** Milliseconds until the deadline, 0 after it. */
  leftMs: number;
  approvers: number;
  roles: string[];
  requester: string;
  requesterMayApprove: boolean;
  turnOver: boolean;
  definitionDigest: string;
}

/**
 * Latest version of a proposal. With `lock` its turn is locked first and the proposal after it, in the order of store/turn/lock.ts.
 */
export async function loadProposal(db: Db, approvalId: string, lock: boolean): Promise<ProposalRow | null> {
  if (lock) {
    await db.query(
      `with asked as (select turn_id from holdfast.proposal where approval_id = $1 limit 1), ${lockedRoot('(select turn_id from asked)')}
       select from root, holdfast.turn t where t.turn_id = (select turn_id from asked) for share of t`,
      [approvalId],
    );
  }
  const { rows } = await db.query<ProposalRow>(
    `select p.approval_id as "approvalId", p.version, p.key, p.turn_id as "turnId", e.name as effect, p.hash, p.args, p.args_digest as "argsDigest", p.state, p.expires_at as "expiresAt", p.expires_at <= now() as expired, greatest(0, ceil(extract(epoch from p.expires_at - now()) * 1000))::float8 as "leftMs", p.approvers, p.roles,
       p.requester, p.requester_may_approve as "requesterMayApprove", coalesce(e.definition_digest, t.definition_digest) as "definitionDigest",
       t.workflow_id as "workflowId", (select b.hash from holdfast.proposal b where b.approval_id = p.approval_id and b.version = p.version - 1) as "basedOn",
       t.ended_at is not null or t.cancel_requested_at is not null or r.cancel_requested_at is not null as "turnOver"
     from holdfast.proposal p join holdfast.turn t on t.turn_id = p.turn_id join holdfast.turn r on r.turn_id = t.root_turn_id join holdfast.ledger_entry e on e.key = p.key
     where p.approval_id = $1 order by p.version desc limit 1 ${lock ? 'for no key update of p' : ''}`,
    [approvalId],
  );
  return rows[0] ?? null;
}
