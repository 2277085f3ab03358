import type { Json } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import type { TurnStatus, TurnView } from '../../contracts/turn.js';
import type { Db } from '../pool.js';
import { approvalsOfTurns } from './approvals.js';
import { boundedLimit } from './rows.js';

interface TurnRow {
  turn_id: string;
  agent: string;
  thread_id: string;
  request_id: string;
  workflow_id: string;
  status: TurnStatus;
  text: string | null;
  reason: string | null;
  definition_digest: string | null;
  /** The turn and every turn that its children opened. */
  tree: string[];
  effects: { key: string; effect: string; state: LedgerState; outcome: 'succeeded' | 'failed' | null; externalId: string | null; args: Json }[];
  steps: number;
  model_calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_micros: string | null;
  effect_calls: number;
  detached: TurnView['detached'];
  owner: string | null;
}

/**
 * One row per asked turn. `tree` follows the ledger entries that opened child turns, so it is right for a child's turn
 * as well. A working turn whose child waits for a person shows what is being waited for. A call of a child that is an
 * agent of its own is no model call: its own model calls count.
 */
const VIEW = `
  with recursive asked as (
    select turn_id, root_turn_id, place from unnest($1::text[]) with ordinality as a (turn_id, place) join holdfast.turn t using (turn_id)),
  tree (top, turn_id) as (
    select turn_id, turn_id from asked
    union
    select tree.top, c.turn_id from tree
      join asked on asked.turn_id = tree.top
      join holdfast.turn c on c.root_turn_id = asked.root_turn_id and c.root_turn_id <> c.turn_id
      join holdfast.ledger_entry opener on opener.key = c.parent_key and opener.turn_id = tree.turn_id)
  select t.turn_id, t.agent, t.thread_id, t.request_id, t.workflow_id, t.text, t.definition_digest,
    coalesce(waiting.status, t.status) as status, coalesce(waiting.reason, t.reason) as reason,
    members.ids as tree, done.effects, done.steps, done.model_calls, done.input_tokens, done.output_tokens, done.cost_micros, done.effect_calls,
    (select coalesce(jsonb_agg(jsonb_build_object('turnId', d.turn_id, 'kind', d.kind, 'status', w.status, 'key', d.key) order by d.ordinal), '[]'::jsonb)
      from holdfast.detached d join holdfast.turn w on w.turn_id = d.turn_id where d.owner_turn_id = t.turn_id) as detached,
    (select d.owner_turn_id from holdfast.detached d where d.turn_id = t.turn_id) as owner
  from asked join holdfast.turn t on t.turn_id = asked.turn_id
  cross join lateral (select array_agg(tree.turn_id) as ids from tree where tree.top = t.turn_id) members
  left join lateral (
    select c.status, c.reason from holdfast.turn c
    where t.status = 'working' and c.turn_id = any(members.ids) and c.turn_id <> t.turn_id and (c.status like 'waiting\\_%' or c.status = 'needs_migration')
    order by c.ordinal limit 1) waiting on true
  cross join lateral (
    select
      coalesce(jsonb_agg(jsonb_build_object('key', e.key, 'effect', e.name, 'state', e.state, 'outcome', e.outcome,
        'externalId', e.external_id, 'args', e.args) order by o.ordinal, e.step, e.idx) filter (where e.kind = 'effect'), '[]'::jsonb) as effects,
      count(*) filter (where e.kind = 'model' and e.turn_id = t.turn_id and e.state not in ('pending', 'cancelled'))::int as steps,
      count(*) filter (where e.kind in ('model', 'child', 'summary') and e.state not in ('pending', 'cancelled')
        and not exists (select 1 from holdfast.turn c where c.parent_key = e.key and c.turn_id = any(members.ids)))::int as model_calls,
      coalesce(sum(e.input_tokens), 0)::int as input_tokens, coalesce(sum(e.output_tokens), 0)::int as output_tokens,
      nullif(sum(e.cost_micros), 0)::text as cost_micros,
      count(*) filter (where e.kind = 'effect' and e.dispatched_at is not null)::int as effect_calls
    from holdfast.ledger_entry e join holdfast.turn o on o.turn_id = e.turn_id where e.turn_id = any(members.ids)) done
  order by asked.place`;

async function viewsOf(db: Db, turnIds: string[]): Promise<TurnView[]> {
  if (turnIds.length === 0) return [];
  const { rows } = await db.query<TurnRow>(VIEW, [turnIds]);
  const approvals = await approvalsOfTurns(db, rows.flatMap((row) => row.tree));
  return rows.map((row) => ({
    turnId: row.turn_id, agent: row.agent, threadId: row.thread_id, requestId: row.request_id, workflowId: row.workflow_id,
    status: row.status, text: row.text, reason: row.reason,
    effects: row.effects.map(({ key, effect, state, outcome, externalId, args }) => ({ key, effect, state, outcome, externalId, args })),
    approvals: approvals.filter((a) => row.tree.includes(a.ofTurn)).map((a) => a.approval),
    usage: {
      modelCalls: row.model_calls, inputTokens: row.input_tokens, outputTokens: row.output_tokens, costUsd: row.cost_micros === null ? null : Number(row.cost_micros) / 1_000_000, effects: row.effect_calls,
    },
    steps: row.steps, detached: row.detached.map(({ turnId, kind, status, key }) => ({ turnId, kind, status, key })), owner: row.owner,
    definition: row.definition_digest,
  }));
}

/** A turn with its whole tree of children, or null. An input that became part of a running turn reads as that turn (D4). */
export async function turnView(db: Db, turnId: string): Promise<TurnView | null> {
  const { rows } = await db.query<{ id: string }>('select coalesce(merged_into, turn_id) as id from holdfast.turn where turn_id = $1', [turnId]);
  return rows[0] === undefined ? null : ((await viewsOf(db, [rows[0].id]))[0] ?? null);
}

export interface TurnFilter {
  status?: TurnStatus | undefined;
  thread?: string | undefined;
  limit?: number | undefined;
}

/** Turns that somebody submitted (not those of children), newest first, at most `limit` (50, never above 500). */
export async function listTurns(db: Db, filter: TurnFilter = {}): Promise<TurnView[]> {
  const { rows } = await db.query<{ turn_id: string }>(
    `select t.turn_id from holdfast.turn t
     where t.root_turn_id = t.turn_id and t.merged_into is null and ($2::text is null or t.thread_id = $2)
       and ($1::text is null or t.status = $1 or (t.status = 'working' and ($1 like 'waiting\\_%' or $1 = 'needs_migration') and exists (
         select 1 from holdfast.turn c where c.root_turn_id = t.turn_id and c.root_turn_id <> c.turn_id and c.status = $1)))
     order by t.ordinal desc limit $3`,
    [filter.status ?? null, filter.thread ?? null, boundedLimit(filter.limit, 50)],
  );
  return viewsOf(db, rows.map((row) => row.turn_id));
}
