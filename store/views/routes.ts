import type { TurnStatus } from '../../contracts/turn.js';
import type { Db } from '../pool.js';

/** Where a turn lives, and how it stands now. `turnId` is the turn that runs: an input that was merged names its turn. */
export interface TurnRoute {
  turnId: string;
  agent: string;
  threadId: string;
  workflowId: string;
  status: TurnStatus;
  ended: boolean;
}

interface RouteRow {
  turn_id: string;
  agent: string;
  thread_id: string;
  workflow_id: string;
  status: TurnStatus;
  ended: boolean;
}

const COLUMNS = 't.turn_id, t.agent, t.thread_id, t.workflow_id, t.status, t.ended_at is not null as ended';

function toRoute(row: RouteRow | undefined): TurnRoute | null {
  if (row === undefined) return null;
  return { turnId: row.turn_id, agent: row.agent, threadId: row.thread_id, workflowId: row.workflow_id, status: row.status, ended: row.ended };
}

/** Cheap enough to be asked again and again while somebody waits. */
export async function turnRoute(db: Db, turnId: string): Promise<TurnRoute | null> {
  const { rows } = await db.query<RouteRow>(
    `select ${COLUMNS} from holdfast.turn asked join holdfast.turn t on t.turn_id = coalesce(asked.merged_into, asked.turn_id) where asked.turn_id = $1`,
    [turnId],
  );
  return toRoute(rows[0]);
}

/** The turn that made a proposal: the child's own, not the root's, because its workflow takes the decision. */
export async function approvalRoute(db: Db, approvalId: string): Promise<TurnRoute | null> {
  const { rows } = await db.query<RouteRow>(
    `select ${COLUMNS} from holdfast.proposal p join holdfast.turn t on t.turn_id = p.turn_id where p.approval_id = $1 order by p.version desc limit 1`,
    [approvalId],
  );
  return toRoute(rows[0]);
}

/** The turn that owns a ledger entry. */
export async function entryRoute(db: Db, key: string): Promise<TurnRoute | null> {
  const { rows } = await db.query<RouteRow>(`select ${COLUMNS} from holdfast.ledger_entry e join holdfast.turn t on t.turn_id = e.turn_id where e.key = $1`, [key]);
  return toRoute(rows[0]);
}
