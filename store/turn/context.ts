import type { JsonObject } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import type { Message, UserContent } from '../../contracts/message.js';
import type { SteeredInput, StepRecord } from '../../domain/assemble.js';
import type { Db } from '../pool.js';

export interface TurnContext {
  turnId: string;
  agent: string;
  threadId: string;
  requester: string;
  definitionDigest: string;
  input: UserContent;
  parentKey: string | null;
  cancelRequested: boolean;
  /** The turn, or one above it, has a budget (D33). */
  hasBudget: boolean;
  /** Newest messages of the thread, oldest first; the first group may be incomplete. */
  prior: { seq: number; grp: number; body: Message }[];
  threadMessages: number;
  records: StepRecord[];
  steered: SteeredInput[];
  workHistory: { child: string; summary: string }[];
  /** Detached work of the conversation that has ended since the turn before began, newest last (D30). */
  endedWork: EndedWork[];
}

export interface EndedWork {
  kind: 'work' | 'compensation';
  status: string;
  text: string;
}

interface Row {
  agent: string;
  thread_id: string;
  requester: string;
  definition_digest: string;
  input: UserContent;
  parent_key: string | null;
  cancelled: boolean;
  has_budget: boolean;
  prior: TurnContext['prior'] | null;
  thread_messages: string;
  records: StepRecord[] | null;
  steered: SteeredInput[] | null;
  work_history: TurnContext['workHistory'] | null;
  ended_work: EndedWork[] | null;
}

/**
 * Reads what a prompt or the end of a turn needs, in one round trip. Only the tail is read: `priorLimit` messages of the thread and the
 * turn's records from `fromStep` on, so that no step costs more than the one before it (D8).
 */
export async function loadTurnContext(db: Db, turnId: string, limits: { priorLimit: number; fromStep: number; workItems: number }): Promise<TurnContext> {
  const { rows } = await db.query<Row>(
    `select t.agent, t.thread_id, t.requester, t.definition_digest, t.input, t.parent_key, t.cancel_requested_at is not null as cancelled, t.budgets is not null as has_budget,
       (select jsonb_agg(jsonb_build_object('seq', m.seq, 'grp', m.grp, 'body', m.body) order by m.seq)
        from (select seq, grp, body from holdfast.message where agent = t.agent and thread_id = t.thread_id order by seq desc limit $2) m) as prior,
       (select next_seq - 1 from holdfast.thread th where th.agent = t.agent and th.thread_id = t.thread_id) as thread_messages,
       (select jsonb_agg(jsonb_build_object('step', e.step, 'idx', e.idx, 'kind', e.kind, 'name', e.name, 'state', e.state, 'outcome', e.outcome, 'result', e.result,
          'externalId', e.external_id, 'reason', e.reason, 'args', e.args,
          'proposal', (select p.state from holdfast.proposal p where p.key = e.key and p.state in ('rejected', 'expired') order by p.version desc limit 1)) order by e.step, e.idx)
        from holdfast.ledger_entry e where e.turn_id = t.turn_id and e.step >= $3 and e.kind <> 'summary') as records,
       (select jsonb_agg(jsonb_build_object('beforeStep', s.merged_step, 'content', s.input) order by s.ordinal)
        from holdfast.turn s where s.merged_into = t.turn_id and s.merged_step >= $3) as steered,
       (select jsonb_agg(jsonb_build_object('child', w.child, 'summary', w.summary) order by w.created_at, w.key)
        from (select child, summary, created_at, key from holdfast.work_history where agent = t.agent and thread_id = t.thread_id and state = 'committed'
              order by created_at desc limit $4) w) as work_history,
       (select jsonb_agg(jsonb_build_object('kind', w.kind, 'status', w.status, 'text', left(w.text, 2000)) order by w.ordinal)
        from (select d.kind, d.ordinal, u.status, u.text from holdfast.detached d join holdfast.turn u on u.turn_id = d.turn_id
              where d.agent = t.agent and d.thread_id = t.thread_id and u.ended_at is not null and u.ended_at > coalesce(
                (select max(p.created_at) from holdfast.turn p where p.agent = t.agent and p.thread_id = t.thread_id and p.ordinal < t.ordinal), '-infinity')
              order by d.ordinal desc limit 5) w) as ended_work
     from holdfast.turn t where t.turn_id = $1`,
    [turnId, limits.priorLimit, limits.fromStep, limits.workItems],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`turn ${turnId} is not stored`);
  return {
    turnId, agent: row.agent, threadId: row.thread_id, requester: row.requester, definitionDigest: row.definition_digest, input: row.input, parentKey: row.parent_key,
    cancelRequested: row.cancelled, hasBudget: row.has_budget, prior: row.prior ?? [], threadMessages: Number(row.thread_messages), records: row.records ?? [],
    steered: row.steered ?? [], workHistory: row.work_history ?? [], endedWork: row.ended_work ?? [],
  };
}

export interface StoredCall {
  turnId: string;
  step: number;
  idx: number;
  name: string;
  args: JsonObject;
  result: unknown;
  state: LedgerState;
  /** What the call belongs to; after a migration not always what the turn is pinned to (D34). */
  definitionDigest: string;
  /** Its turn, or one above it, has a budget (D33). */
  hasBudget: boolean;
}

/** Arguments and result of one call, as its child or summary sees them. */
export async function loadCall(db: Db, key: string): Promise<StoredCall | null> {
  const { rows } = await db.query<StoredCall>(
    `select e.turn_id as "turnId", e.step, e.idx, e.name, e.args, e.result, e.state, coalesce(e.definition_digest, t.definition_digest) as "definitionDigest",
       t.budgets is not null as "hasBudget"
     from holdfast.ledger_entry e join holdfast.turn t using (turn_id) where e.key = $1`,
    [key],
  );
  return rows[0] ?? null;
}
