import type { FinalStatus } from '../../contracts/turn.js';
import type { ConversationRef } from '../../contracts/steps.js';
import type { Db } from '../pool.js';

export interface OpenRow {
  ended: FinalStatus | null;
  cancelRequested: boolean;
  /** Null when no definition of the agent was ever published. */
  definitionDigest: string | null;
  /** Nothing of the turn begins after it (D33). Milliseconds since the epoch. */
  deadlineMs: number | null;
}

/** Starts a turn and pins the agent's current definition. A repeat finds the pin it made before (D34). Null: the conversation has no such turn. */
export async function openTurn(db: Db, { turnId, agent, threadId }: ConversationRef & { turnId: string }): Promise<OpenRow | null> {
  const { rows } = await db.query<{ status: FinalStatus; ended: boolean; cancelled: boolean; digest: string | null; deadline: Date | null }>(
    `update holdfast.turn t set
       definition_digest = coalesce(t.definition_digest, (select c.digest from holdfast.current_definition c where c.agent = t.agent)),
       status = case when t.status = 'queued' then 'working' else t.status end
     where t.turn_id = $1 and t.agent = $2 and t.thread_id = $3
     returning t.status, t.ended_at is not null or t.merged_into is not null as ended, t.cancel_requested_at is not null as cancelled, t.definition_digest as digest, t.deadline_at as deadline`,
    [turnId, agent, threadId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return { ended: row.ended ? row.status : null, cancelRequested: row.cancelled, definitionDigest: row.digest, deadlineMs: row.deadline?.getTime() ?? null };
}
