import type { ApprovalState, DecisionAnswer, DecisionRefusal } from '../../contracts/approval.js';
import type { Principal } from '../../contracts/principal.js';
import { mayDecide } from '../../domain/approval.js';
import { inTransaction } from '../pool.js';
import type { Db, Pool } from '../pool.js';
import { loadProposal } from './load.js';
import type { ProposalRow } from './load.js';

export interface DecisionToRecord {
  approvalId: string;
  hash: string;
  decision: 'approve' | 'reject';
  reason: string | null;
  by: Principal;
  /** The conversation that was asked (D22). */
  workflowId: string;
}

/**
 * Records a decision (D22): each person's first one counts, one reject is final, an identical repeat gets the same answer, a
 * contradicting one is refused. The first decision that completes the proposal wins atomically.
 */
export async function recordDecision(pool: Pool, decision: DecisionToRecord): Promise<DecisionAnswer> {
  return inTransaction(pool, async (db) => {
    const proposal = await loadProposal(db, decision.approvalId, true);
    if (proposal === null) return refuse('unknown_approval', `there is no approval ${decision.approvalId}`);
    if (proposal.workflowId !== decision.workflowId) return refuse('unknown_approval', `the approval waits in the workflow ${proposal.workflowId}; decide there`);
    if (proposal.hash !== decision.hash) return refuse('wrong_hash', `the hash is not that of version ${proposal.version}; look at the proposal again`);
    const earlier = await earlierDecision(db, proposal, decision.by.user);
    if (earlier !== null) return repeat(proposal, earlier, decision.decision);
    const refusal = await refusalOf(db, proposal, decision);
    return refusal ?? store(db, proposal, decision);
  });
}

async function earlierDecision(db: Db, proposal: ProposalRow, person: string): Promise<string | null> {
  const { rows } = await db.query<{ decision: string }>('select decision from holdfast.decision where approval_id = $1 and version = $2 and person = $3', [
    proposal.approvalId, proposal.version, person,
  ]);
  return rows[0]?.decision ?? null;
}

function repeat(proposal: ProposalRow, earlier: string, now: string): DecisionAnswer {
  if (earlier !== now) return refuse('already_decided', `you have already decided: ${earlier}`);
  const result = earlier === 'reject' ? 'rejected' : proposal.state === 'approved' ? 'approved' : 'recorded';
  return { result, approvalId: proposal.approvalId, version: proposal.version, hash: proposal.hash };
}

async function refusalOf(db: Db, proposal: ProposalRow, decision: DecisionToRecord): Promise<DecisionAnswer | null> {
  if (proposal.state === 'approved' || proposal.state === 'rejected') return refuse('already_decided', `the proposal is already ${proposal.state}`);
  if (proposal.state === 'expired' || (proposal.state === 'pending' && proposal.expired)) {
    await expireProposal(db, proposal.approvalId, proposal.version);
    return refuse('expired', 'the time to decide has passed; nothing was done and nothing will be');
  }
  if (proposal.state !== 'pending' || proposal.turnOver) return refuse('turn_finished', 'the turn has ended or is being cancelled; nothing will be done');
  const problem = mayDecide(proposal, decision.decision, decision.by);
  return problem === null ? null : refuse('not_permitted', problem);
}

async function store(db: Db, proposal: ProposalRow, decision: DecisionToRecord): Promise<DecisionAnswer> {
  const { rows } = await db.query<{ approvals: number }>(
    `with fresh as (
       insert into holdfast.decision (approval_id, version, person, decision, reason) values ($1, $2, $3, $4, $5) returning decision
     )
     select ((select count(*) from holdfast.decision where approval_id = $1 and version = $2 and decision = 'approve')
       + (select count(*) from fresh where decision = 'approve'))::int as approvals`,
    [proposal.approvalId, proposal.version, decision.by.user, decision.decision, decision.reason],
  );
  const base = { approvalId: proposal.approvalId, version: proposal.version, hash: proposal.hash };
  if (decision.decision === 'reject') {
    await close(db, proposal.approvalId, proposal.version, 'rejected', `Rejected by ${decision.by.user}${decision.reason === null ? '' : `: ${decision.reason}`}.`);
    return { result: 'rejected', ...base };
  }
  if ((rows[0]?.approvals ?? 0) < proposal.approvers) return { result: 'recorded', ...base };
  await db.query(`update holdfast.proposal set state = 'approved' where approval_id = $1 and version = $2`, [proposal.approvalId, proposal.version]);
  return { result: 'approved', ...base };
}

/** Ends a proposal whose time has passed by the database's clock and answers its state: a decision that came first stands (D24). */
export async function expireProposal(db: Db, approvalId: string, version: number): Promise<ApprovalState> {
  await close(db, approvalId, version, 'expired', null);
  const { rows } = await db.query<{ state: ApprovalState }>('select state from holdfast.proposal where approval_id = $1 and version = $2', [approvalId, version]);
  return rows[0]?.state ?? 'cancelled';
}

async function close(db: Db, approvalId: string, version: number, state: 'rejected' | 'expired', reason: string | null): Promise<void> {
  await db.query(
    `with closed as (
       update holdfast.proposal set state = $3 where approval_id = $1 and version = $2 and state = 'pending' and ($3 <> 'expired' or expires_at <= now()) returning key
     )
     update holdfast.ledger_entry set state = 'cancelled', version = version + 1, reason = $4 from closed where ledger_entry.key = closed.key and ledger_entry.state = 'pending'`,
    [approvalId, version, state, reason],
  );
}

function refuse(code: DecisionRefusal, message: string): DecisionAnswer {
  return { result: 'refused', code, message };
}
