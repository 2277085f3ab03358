import type { TurnStatus } from '../../contracts/turn.js';
import type { Db } from '../pool.js';

/** How a turn stands for somebody who waits. `behind`: the turn in front of a queued one, when that one waits for a person. */
export interface Standing {
  turnId: string;
  status: TurnStatus;
  behind: { turnId: string; status: TurnStatus } | null;
}

interface StandingRow {
  turn_id: string;
  status: TurnStatus;
  behind_id: string | null;
  behind_status: TurnStatus | null;
}

/**
 * One small query, so that waiting does not read whole views. A working turn whose child waits stands as its child does.
 * New input answers `waiting_input` (D4), so nothing is stuck behind that one.
 */
export async function turnStanding(db: Db, turnId: string): Promise<Standing | null> {
  const { rows } = await db.query<StandingRow>(
    `select t.turn_id, coalesce(child.status, t.status) as status, front.turn_id as behind_id, front.status as behind_status
     from holdfast.turn asked join holdfast.turn t on t.turn_id = coalesce(asked.merged_into, asked.turn_id)
     left join lateral (
       select c.status from holdfast.turn c
       where t.status = 'working' and c.root_turn_id = t.turn_id and c.root_turn_id <> c.turn_id and (c.status like 'waiting\\_%' or c.status = 'needs_migration')
       order by c.ordinal limit 1) child on true
     left join lateral (
       select f.turn_id, coalesce(w.status, f.status) as status from holdfast.turn f
       left join lateral (
         select c.status from holdfast.turn c
         where f.status = 'working' and c.root_turn_id = f.turn_id and c.root_turn_id <> c.turn_id and (c.status like 'waiting\\_%' or c.status = 'needs_migration')
         order by c.ordinal limit 1) w on true
       where t.status = 'queued' and f.ended_at is null and f.ordinal < t.ordinal and f.agent = t.agent and f.thread_id = t.thread_id
         and f.merged_into is null and coalesce(w.status, f.status) in ('waiting_approval', 'waiting_review', 'waiting_unknown', 'needs_migration')
       order by f.ordinal limit 1) front on true
     where asked.turn_id = $1`,
    [turnId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const behind = row.behind_id === null || row.behind_status === null ? null : { turnId: row.behind_id, status: row.behind_status };
  return { turnId: row.turn_id, status: row.status, behind };
}
