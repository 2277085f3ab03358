import type { DiffLine } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import type { ProposalRef } from '../../contracts/steps.js';
import { CallError } from '../../domain/failure.js';
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
  /** The definition it was made from; a migration meanwhile makes it void (D34). */
  definitionDigest: string;
}

/** Stores a version of a proposal once; a repeat finds the row that was shown (D21). Retryable when its entry was closed or migrated meanwhile (D34). */
export async function createProposal(db: Db, proposal: NewProposal): Promise<ProposalRef> {
  const { rows } = await db.query<{ hash: string; version: number; expires_at: Date }>(
    `with fresh as (
       insert into holdfast.proposal (approval_id, version, key, turn_id, hash, args, args_digest, diff, expires_at, approvers, roles, requester, requester_may_approve, edited_by)
       select $1, $2, $3, $4, $5, $6::jsonb, $7, $8::jsonb, now() + $9 * interval '1 millisecond', $10, $11::text[], $12, $13::boolean, $14
       from (select e.key from holdfast.ledger_entry e join holdfast.turn t using (turn_id)
             where e.key = $3 and e.state = 'pending' and coalesce(e.definition_digest, t.definition_digest) = $15 for share of e) made_from
       on conflict do nothing
       returning hash, version, expires_at
     )
     select hash, version, expires_at from fresh
     union all
     select hash, version, expires_at from holdfast.proposal where approval_id = $1 and version = $2 and not exists (select from fresh)`,
    [proposal.approvalId, proposal.version, proposal.key, proposal.turnId, proposal.hash, JSON.stringify(proposal.args), proposal.argsDigest, JSON.stringify(proposal.diff),
      proposal.expiresInMs, proposal.approvers, proposal.roles, proposal.requester, proposal.requesterMayApprove, proposal.editedBy, proposal.definitionDigest],
  );
  const row = rows[0];
  if (row === undefined) throw new CallError('retryable', `the turn of ${proposal.approvalId} was changed while version ${proposal.version} was made`);
  return { approvalId: proposal.approvalId, version: row.version, hash: row.hash, expiresAt: row.expires_at.getTime() };
}
