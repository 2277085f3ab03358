import type { LedgerState } from '../contracts/ledger.js';

/**
 * What a migration does with a call that the turn has not finished (D34).
 * 1. What was sent, and what a person approved, keeps the meaning that it was sent or approved with.
 * 2. What only waits gets the new meaning; a proposal whose policy or target changed is a new version that needs its own approval (D23).
 * 3. What the new definition does not have, or whose need for approval came or went, is closed with a result that says so: nothing that was
 *    asked for under one policy ever runs under another.
 * 4. When the old meaning cannot be used, what was sent is given up truthfully: not done where that is proven, else unknown (D13).
 */
export interface OpenCallFacts {
  kind: 'effect' | 'child';
  name: string;
  state: Extract<LedgerState, 'pending' | 'dispatched' | 'unknown'>;
  needsApproval: boolean;
  /** Of its newest proposal version; `over`: its time has passed, or it was decided otherwise. Null: none was made. */
  proposal: 'pending' | 'approved' | 'over' | null;
  /** Whether this build can use the definition that the call belongs to. */
  oldUsable: boolean;
}

/** The call in the new definition. Null: it is not in it. */
export interface NewMeaning {
  needsApproval: boolean;
  /** Why the arguments do not fit the new schema (D7). */
  argsProblem: string | null;
  /** The newest proposal version would have the same hash: the same action, target, conditions and policy (D21). */
  sameProposal: boolean;
}

export type CallMigration = { do: 'keep' | 'repin' | 'propose_anew' } | { do: 'close' | 'give_up'; reason: string };

const KEEP: CallMigration = { do: 'keep' };
const REPIN: CallMigration = { do: 'repin' };

export function migrateCall(call: OpenCallFacts, now: NewMeaning | null): CallMigration {
  if (call.state !== 'pending') return migrateSent(call, now);
  if (call.proposal === 'over') return KEEP;
  if (call.proposal === 'approved') return migrateApproved(call, now);
  const reason = closeReason(call, now);
  if (reason !== null) return { do: 'close', reason };
  return call.proposal === 'pending' && now?.sameProposal !== true ? { do: 'propose_anew' } : REPIN;
}

function migrateSent(call: OpenCallFacts, now: NewMeaning | null): CallMigration {
  if (call.oldUsable) return KEEP;
  if (call.kind === 'child' && now !== null) return REPIN;
  // An unknown effect is settled by a person, who needs no definition for that.
  if (call.state === 'unknown') return KEEP;
  return { do: 'give_up', reason: 'The definition that it was sent under can no longer be used.' };
}

function migrateApproved(call: OpenCallFacts, now: NewMeaning | null): CallMigration {
  if (call.oldUsable) return KEEP;
  if (now?.sameProposal === true && now.argsProblem === null) return REPIN;
  return { do: 'close', reason: `What was approved for ${call.name} can no longer be done as it was approved. Call it again if it is still wanted.` };
}

function closeReason(call: OpenCallFacts, now: NewMeaning | null): string | null {
  if (now === null) return `The agent was changed and has no ${call.name} any more.`;
  if (call.kind === 'child') return null;
  if (now.needsApproval !== call.needsApproval) {
    return `The agent was changed and ${call.name} ${now.needsApproval ? 'needs an approval now' : 'needs no approval any more'}. Call it again if it is still wanted.`;
  }
  return now.argsProblem === null ? null : `The agent was changed and the arguments do not fit ${call.name} any more: ${now.argsProblem}.`;
}
