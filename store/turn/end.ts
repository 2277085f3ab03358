import type { Message } from '../../contracts/message.js';
import type { StoredReply } from '../../contracts/reply.js';
import type { FinalStatus } from '../../contracts/turn.js';
import { joinUsers, turnGroups, userMessage } from '../../domain/assemble.js';
import type { Group, StepRecord } from '../../domain/assemble.js';
import { closingText } from '../../domain/closing.js';
import type { ToldEffect } from '../../domain/closing.js';
import { undoByPolicy } from '../detached/undo-by-policy.js';
import { inTransaction } from '../pool.js';
import type { Db, Pool } from '../pool.js';
import { loadTurnContext } from './context.js';
import type { TurnContext } from './context.js';

/** What a turn without a model says about its end: how it ended, and why when it did not complete. */
type EndWords = (status: FinalStatus, why: string | null) => string;

/**
 * Ends a turn in one transaction: messages, memory and outcome change together or not at all. Keyed by the turn: a repeat answers
 * what was stored and changes nothing. `words`: the response of a turn without a model. A cancel that was acknowledged before wins over any other end (D31).
 */
export async function endTurn(pool: Pool, turnId: string, asked: FinalStatus, reason: string | null, words: EndWords | null = null): Promise<FinalStatus> {
  for (const child of await openChildren(pool, turnId)) await endTurn(pool, child, 'cancelled', 'the turn that asked for it has ended');
  return inTransaction(pool, async (db) => {
    const open = await lockOpenTurn(db, turnId);
    if (open.ended !== null) return open.ended;
    const status = open.cancelRequested ? 'cancelled' : asked;
    const why = status === 'completed' ? null : open.cancelRequested ? open.reason : (reason ?? open.reason);
    await cancelPending(db, turnId);
    const context = await loadTurnContext(db, turnId, { priorLimit: 0, fromStep: 0, workItems: 0 });
    if (status !== 'completed') await undoByPolicy(db, turnId, status);
    const text = words?.(status, why) ?? (status === 'completed' ? finalText(context.records) : closingText(status, why, await toldEffects(db, turnId)));
    if (context.definitionDigest !== null) await appendMessages(db, context, transcript(context, status, text));
    await db.query(`update holdfast.work_history set state = $2 where turn_id = $1 and state = 'provisional'`, [turnId, status === 'completed' ? 'committed' : 'quarantine']);
    await db.query(`update holdfast.turn set status = $2, text = $3, reason = $4, ended_at = now() where turn_id = $1`, [turnId, status, text, why]);
    return status;
  });
}

/** Turns of children that never began, or whose workflow was ended from outside: a turn ends after its calls, so nothing runs them any more. */
async function openChildren(db: Db, turnId: string): Promise<string[]> {
  const { rows } = await db.query<{ turn_id: string }>(
    `select c.turn_id from holdfast.turn t join holdfast.turn c on c.root_turn_id = t.root_turn_id and c.root_turn_id <> c.turn_id and c.ended_at is null
       join holdfast.ledger_entry opener on opener.key = c.parent_key and opener.turn_id = t.turn_id
     where t.turn_id = $1`,
    [turnId],
  );
  return rows.map((row) => row.turn_id);
}

async function lockOpenTurn(db: Db, turnId: string): Promise<{ ended: FinalStatus | null; cancelRequested: boolean; reason: string | null }> {
  const { rows } = await db.query<{ ended: boolean; status: FinalStatus; cancelled: boolean; reason: string | null }>(
    `select ended_at is not null as ended, status, cancel_requested_at is not null as cancelled, reason from holdfast.turn where turn_id = $1 for no key update`,
    [turnId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`turn ${turnId} is not stored`);
  return { ended: row.ended ? row.status : null, cancelRequested: row.cancelled, reason: row.reason };
}

/**
 * What never began is cancelled, and an approval that still waits can no longer act (D24, D27). An effect of which every call is proven to have
 * had none was not done; of any other that is open it is not known (D10, D28).
 */
async function cancelPending(db: Db, turnId: string): Promise<void> {
  await db.query(`update holdfast.proposal set state = 'cancelled' where turn_id = $1 and state = 'pending'`, [turnId]);
  await db.query(
    `update holdfast.ledger_entry set version = version + 1,
       state = case when kind <> 'effect' or state = 'pending' then 'cancelled' when holdfast.had_no_effect(key) then 'failed' else 'unknown' end,
       reason = case when kind = 'effect' and state = 'dispatched' and holdfast.had_no_effect(key) then 'The turn ended before it was done.' else reason end
     where turn_id = $1 and state in ('pending', 'dispatched')`,
    [turnId],
  );
}

/**
 * Effects of the turn and of every turn that its children opened, in the order of the ledger: all of them are told, and what has become of undoing
 * them, whoever began that (D28, D29).
 */
async function toldEffects(db: Db, turnId: string): Promise<ToldEffect[]> {
  const { rows } = await db.query<ToldEffect>(
    `with recursive tree (turn_id, root_turn_id) as (
       select turn_id, root_turn_id from holdfast.turn where turn_id = $1
       union
       select c.turn_id, c.root_turn_id from tree join holdfast.turn c on c.root_turn_id = tree.root_turn_id and c.root_turn_id <> c.turn_id
         join holdfast.ledger_entry opener on opener.key = c.parent_key and opener.turn_id = tree.turn_id
     )
     select case when undoing.done then 'undone' when undoing.open then 'undoing' when undoing.unknown then 'unknown' end as undo, e.name, e.state, e.outcome, e.external_id as "externalId",
       (select p.state from holdfast.proposal p where p.key = e.key and p.state in ('rejected', 'expired') order by p.version desc limit 1) as proposal
     from tree join holdfast.ledger_entry e using (turn_id) join holdfast.turn o using (turn_id) cross join lateral (
       select bool_or(u.state = 'succeeded' or (u.state = 'reconciled' and u.outcome = 'succeeded')) as done, bool_or(w.ended_at is null) as open,
         bool_or(u.state in ('dispatched', 'unknown')) as unknown
       from holdfast.detached d join holdfast.turn w on w.turn_id = d.turn_id join holdfast.ledger_entry u on u.turn_id = w.turn_id and u.kind = 'effect'
       where d.key = e.key and d.kind = 'compensation') undoing
     where e.kind = 'effect' order by o.ordinal, e.step, e.idx`,
    [turnId],
  );
  return rows;
}

function finalText(records: StepRecord[]): string {
  const replies = records.filter((record) => record.idx === -1).map((record) => record.result as StoredReply | null);
  const last = replies.at(-1);
  if (last?.use !== 'final') throw new Error('a completed turn needs a final reply');
  return last.text;
}

function transcript(context: TurnContext, status: FinalStatus, text: string): Group[] {
  const groups: Group[] = [[userMessage(context.input)], ...turnGroups(context.records, context.steered)];
  if (status === 'completed' && context.records.some((record) => record.idx === -1)) return groups;
  const answered = groups.filter((group) => !isFinalAnswer(group));
  return [...answered, [{ role: 'assistant', text, calls: [] }]];
}

/** A final text that was overtaken by a cancel is not what the user saw. */
function isFinalAnswer(group: Group): boolean {
  const [first] = group;
  return group.length === 1 && first?.role === 'assistant' && first.calls.length === 0;
}

/** Takes the next sequence numbers of the thread under its row lock: no gap, no tie (C15). */
async function appendMessages(db: Db, context: TurnContext, groups: Group[]): Promise<void> {
  const joined = joinGroups(groups);
  const bodies = joined.flatMap((group, grp) => group.map((body) => ({ grp, body })));
  await db.query(
    `with place as (
       update holdfast.thread set next_seq = next_seq + $3 where agent = $1 and thread_id = $2 returning next_seq - $3 as first
     )
     insert into holdfast.message (agent, thread_id, seq, grp, turn_id, body)
     select $1, $2, place.first + item.n - 1, place.first + (item.body ->> 'grp')::bigint, $4, item.body -> 'body'
     from place, jsonb_array_elements($5::jsonb) with ordinality as item(body, n)`,
    [context.agent, context.threadId, bodies.length, context.turnId, JSON.stringify(bodies)],
  );
}

/** Steered inputs next to another user message become one message, as the provider saw them. */
function joinGroups(groups: Group[]): Group[] {
  const joined: Group[] = [];
  for (const group of groups) {
    const last = joined.at(-1)?.at(-1);
    const first: Message | undefined = group[0];
    if (last?.role === 'user' && first?.role === 'user') joined[joined.length - 1] = joinUsers([last, first]);
    else joined.push(group);
  }
  return joined;
}
