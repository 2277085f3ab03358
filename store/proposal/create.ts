import type { DiffLine } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import type { ProposalRef } from '../../contracts/steps.js';
import type { Db } from '../pool.js';

export interface NewProposal {
  approvalId: string;
  version: number;
  key: string;
  turnId: string;
  hash: string;
  args: JsonObject;
  argsDigest: string;
  diff: DiffLine[];
  expiresInMs: number;
  approvers: number;
  roles: string[];
  requester: string;
  requesterMayApprove: boolean;
  editedBy: string | null;
}

/** Stores a version of a proposal once; a repeat finds the row that was shown (D21). */
export async function createProposal(db: Db, proposal: NewProposal): Promise<ProposalRef> {
  const { rows } = await db.query<{ hash: string; version: number; expires_at: Date }>(
    `with fresh as (
       insert into proposal (approval_id, version, key, turn_id, hash, args, args_digest, diff, expires_at, approvers, roles, requester, requester_may_approve, edited_by)
       values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 millisecond', $10, $11, $12, $13, $14)
       on conflict do nothing
       returning hash, version, expires_at
     )
     select hash, version, expires_at from fresh
     union all
     select hash, version, expires_at from proposal where approval_id = $1 and version = $2 and not exists (select from fresh)`,
    [proposal.approvalId, proposal.version, proposal.key, proposal.turnId, proposal.hash, JSON.stringify(proposal.args), proposal.argsDigest, JSON.stringify(proposal.diff),
      proposal.expiresInMs, proposal.approvers, proposal.roles, proposal.requester, proposal.requesterMayApprove, proposal.editedBy],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`proposal ${proposal.approvalId} version ${proposal.version} could not be stored`);
  return { approvalId: proposal.approvalId, version: row.version, hash: row.hash, expiresAt: row.expires_at.getTime() };
}
