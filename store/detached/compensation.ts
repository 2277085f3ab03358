import type { JsonObject } from '../../contracts/json.js';
import type { DetachedRef } from '../../contracts/steps.js';
import type { UndoEnd } from '../../domain/closing.js';
import type { Db } from '../pool.js';

/** An effect, and what has been done so far to undo it (D29). */
export interface Undoable {
  key: string;
  effect: string;
  /** It is known to have been done. */
  done: boolean;
  externalId: string | null;
  args: JsonObject;
  agent: string;
  definitionDigest: string;
  requester: string;
  /** How often it was tried to undo it so far. */
  tries: number;
  /** The turn that undoes it now. */
  open: DetachedRef | null;
  /** By the ledger: an effect that undoes it was done, however its turn ended. */
  undone: boolean;
  /** An effect that may have undone it: its turn has ended and it is not known whether it was done. */
  undecided: string | null;
}

export interface NewCompensation {
  turnId: string;
  agent: string;
  /** Conversation of the undoing turn: one for each try. */
  threadId: string;
  requestId: string;
  workflowId: string;
  definitionDigest: string;
  /** The effect that is undone. */
  undoes: string;
  effect: string;
  effectKey: string;
  args: JsonObject;
  argsDigest: string;
  needsApproval: boolean;
  text: string;
  inputDigest: string;
  requester: string;
  reason: string | null;
}

/**
 * Reads an effect with what has been done to undo it, under a lock, so that two who ask at once cannot both begin. What a try came to is read
 * from its ledger entry: a turn may end as cancelled after its effect was done (D28). Null: there is no such effect.
 */
export async function loadUndoable(db: Db, key: string): Promise<Undoable | null> {
  await db.query('select from holdfast.ledger_entry where key = $1 for no key update', [key]);
  const { rows } = await db.query<Undoable>(
    `select e.key, e.name as effect, e.external_id as "externalId", e.args, t.agent, t.definition_digest as "definitionDigest", t.requester,
       e.state = 'succeeded' or (e.state = 'reconciled' and e.outcome = 'succeeded') as done, undoing.*
     from holdfast.ledger_entry e join holdfast.turn t using (turn_id) cross join lateral (
       select count(*)::int as tries,
         coalesce(bool_or(u.state = 'succeeded' or (u.state = 'reconciled' and u.outcome = 'succeeded')), false) as undone,
         (array_agg(u.key order by d.ordinal) filter (where w.ended_at is not null and u.state in ('dispatched', 'unknown')))[1] as undecided,
         (array_agg(jsonb_build_object('agent', w.agent, 'threadId', w.thread_id, 'turnId', w.turn_id, 'workflowId', w.workflow_id, 'undoes', true) order by d.ordinal)
           filter (where w.ended_at is null))[1] as open
       from holdfast.detached d join holdfast.turn w using (turn_id) join holdfast.ledger_entry u on u.turn_id = w.turn_id and u.kind = 'effect'
       where d.key = e.key and d.kind = 'compensation') undoing
     where e.key = $1 and e.kind = 'effect'`,
    [key],
  );
  return rows[0] ?? null;
}

/** Creates the turn that undoes an effect, with that one effect as its only step, under the owner's root turn (D29). */
export async function createCompensation(db: Db, item: NewCompensation): Promise<void> {
  await db.query(
    `with known_thread as (
       insert into holdfast.thread (agent, thread_id) values ($2, $3) on conflict do nothing
     ), begun as (
       insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, requester, workflow_id, root_turn_id, definition_digest)
       values ($1, $2, $3, $4, $5, jsonb_build_object('text', $6::text), $7, $8, $1, $9)
     ), owner as (
       select r.turn_id, r.agent, r.thread_id from holdfast.ledger_entry e join holdfast.turn t using (turn_id) join holdfast.turn r on r.turn_id = t.root_turn_id where e.key = $10
     ), linked as (
       insert into holdfast.detached (turn_id, kind, key, owner_turn_id, agent, thread_id, asked_by, reason)
       select $1, 'compensation', $10, turn_id, agent, thread_id, $7, $11 from owner
     )
     insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, args, args_digest, needs_approval) values ($12, $1, 1, 0, 'effect', $13, $14, $15, $16)`,
    [item.turnId, item.agent, item.threadId, item.requestId, item.inputDigest, item.text, item.requester, item.workflowId, item.definitionDigest, item.undoes, item.reason,
      item.effectKey, item.effect, JSON.stringify(item.args), item.argsDigest, item.needsApproval],
  );
}

/** Effects of a turn that are known to have been done, newest first: the order in which they are undone. */
export async function doneEffects(db: Db, turnId: string): Promise<{ key: string; name: string }[]> {
  const { rows } = await db.query<{ key: string; name: string }>(
    `select key, name from holdfast.ledger_entry where turn_id = $1 and kind = 'effect' and (state = 'succeeded' or (state = 'reconciled' and outcome = 'succeeded'))
     order by step desc, idx desc`,
    [turnId],
  );
  return rows;
}

/** What a compensation undoes, and how its one effect stands. */
export async function compensationEnd(db: Db, turnId: string): Promise<UndoEnd & { key: string }> {
  const { rows } = await db.query<UndoEnd & { key: string }>(
    `select e.key, e.state, e.outcome, e.name, e.external_id as "externalId", a.name as undone, a.external_id as "undoneId", e.reason,
       (select p.state from holdfast.proposal p where p.key = e.key and p.state in ('rejected', 'expired') order by p.version desc limit 1) as proposal
     from holdfast.detached d join holdfast.ledger_entry a on a.key = d.key join holdfast.ledger_entry e on e.turn_id = d.turn_id where d.turn_id = $1 and e.kind = 'effect'`,
    [turnId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`turn ${turnId} undoes nothing`);
  return row;
}
