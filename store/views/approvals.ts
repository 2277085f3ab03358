import type { ApprovalState, ApprovalView, DiffLine } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import type { Db } from '../pool.js';
import { boundedLimit } from './rows.js';

interface ApprovalRow {
  id: string;
  version: number;
  key: string;
  turn_id: string;
  thread_id: string;
  agent: string;
  hash: string;
  effect: string;
  args: JsonObject;
  diff: DiffLine[];
  expires_at: Date;
  state: ApprovalState;
  approvers: number;
  roles: string[];
  decisions: { by: string; decision: 'approve' | 'reject'; at: string; reason: string | null }[];
}

/**
 * What a proposal looks like from outside. Proposals of nested children appear under the root turn and its
 * conversation, so that one inbox holds them all (D26).
 */
const COLUMNS = `
  p.approval_id as id, p.version, p.key, r.turn_id, r.thread_id, r.agent, p.hash, e.name as effect, p.args, p.diff,
  p.expires_at, p.state, p.approvers, p.roles,
  coalesce((
    select jsonb_agg(jsonb_build_object('by', d.person, 'decision', d.decision, 'reason', d.reason,
      'at', to_char(d.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by d.at, d.person)
    from holdfast.decision d where d.approval_id = p.approval_id and d.version = p.version), '[]'::jsonb) as decisions`;

const JOINS = `
  join holdfast.turn t on t.turn_id = p.turn_id
  join holdfast.turn r on r.turn_id = t.root_turn_id
  join holdfast.ledger_entry e on e.key = p.key`;

/** jsonb has an order of keys of its own; people read these objects in ours. */
function toView(row: ApprovalRow): ApprovalView {
  return {
    id: row.id, key: row.key, turnId: row.turn_id, threadId: row.thread_id, agent: row.agent, hash: row.hash, version: row.version,
    effect: row.effect, args: row.args, diff: row.diff.map(({ field, before, after }) => ({ field, before, after })), expiresAt: row.expires_at.toISOString(), state: row.state,
    approvers: row.approvers, roles: row.roles,
    decisions: row.decisions.map(({ by, decision, at, reason }) => ({ by, decision, at, reason })),
  };
}

export interface ApprovalFilter {
  threadId?: string | undefined;
  /** Default `pending`. */
  state?: ApprovalState | undefined;
  limit?: number | undefined;
}

/** Proposals in one state, oldest first, at most `limit` (100, never above 500). */
export async function listApprovals(db: Db, filter: ApprovalFilter = {}): Promise<ApprovalView[]> {
  const state = filter.state ?? 'pending';
  // The literal lets the planner use the partial index on pending proposals.
  const condition = state === 'pending' ? `p.state = 'pending' and $1 = 'pending'` : 'p.state = $1';
  const { rows } = await db.query<ApprovalRow>(
    `select ${COLUMNS} from holdfast.proposal p ${JOINS}
     where ${condition} and ($2::text is null or r.thread_id = $2)
     order by p.created_at, p.approval_id, p.version limit $3`,
    [state, filter.threadId ?? null, boundedLimit(filter.limit)],
  );
  return rows.map(toView);
}

/** The latest version of a proposal, or null. */
export async function approvalView(db: Db, id: string): Promise<ApprovalView | null> {
  const { rows } = await db.query<ApprovalRow>(
    `select ${COLUMNS} from holdfast.proposal p ${JOINS} where p.approval_id = $1 order by p.version desc limit 1`,
    [id],
  );
  return rows[0] === undefined ? null : toView(rows[0]);
}

/** Every version of a proposal, oldest first: what was decided about which of them (D22, D23). */
export async function approvalVersions(db: Db, id: string): Promise<ApprovalView[]> {
  const { rows } = await db.query<ApprovalRow>(
    `select ${COLUMNS} from holdfast.proposal p ${JOINS} where p.approval_id = $1 order by p.version`,
    [id],
  );
  return rows.map(toView);
}

/** The latest version of every proposal of these turns, by turn, oldest first. */
export async function approvalsOfTurns(db: Db, turnIds: string[]): Promise<{ ofTurn: string; approval: ApprovalView }[]> {
  const { rows } = await db.query<ApprovalRow & { of_turn: string }>(
    `select ${COLUMNS}, p.turn_id as of_turn from holdfast.proposal p ${JOINS}
     where p.turn_id = any($1)
       and not exists (select 1 from holdfast.proposal newer where newer.approval_id = p.approval_id and newer.version > p.version)
     order by p.created_at, p.approval_id`,
    [turnIds],
  );
  return rows.map((row) => ({ ofTurn: row.of_turn, approval: toView(row) }));
}
