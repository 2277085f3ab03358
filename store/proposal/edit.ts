import type { ProposalRef } from '../../contracts/steps.js';
import { inTransaction } from '../pool.js';
import type { Pool } from '../pool.js';
import { createProposal } from './create.js';
import type { NewProposal } from './create.js';
import { loadProposal } from './load.js';

/** Replaces a pending proposal by an edited version that needs its own approval (D23); null when it is no longer pending under that hash. */
export async function editProposal(pool: Pool, basedOnHash: string, proposal: NewProposal): Promise<ProposalRef | null> {
  return inTransaction(pool, async (db) => {
    const current = await loadProposal(db, proposal.approvalId, true);
    if (current?.version === proposal.version && current.hash === proposal.hash) return createProposal(db, proposal);
    if (current === null || current.hash !== basedOnHash || current.state !== 'pending' || current.expired || current.turnOver) return null;
    await db.query(`update holdfast.proposal set state = 'superseded' where approval_id = $1 and version = $2`, [current.approvalId, current.version]);
    await db.query(`update holdfast.ledger_entry set args = $2, args_digest = $3, version = version + 1 where key = $1 and state = 'pending'`, [
      proposal.key, JSON.stringify(proposal.args), proposal.argsDigest,
    ]);
    return createProposal(db, proposal);
  });
}
