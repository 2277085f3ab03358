import type { Json } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import { inTransaction } from '../pool.js';
import type { Db, Pool } from '../pool.js';

/** What is known of a call of a remote agent when a worker takes it (D32). */
export interface RemoteClaim {
  kind: 'claimed';
  generation: number;
  /** The conversation that called, which owns what it says to the remote agent. */
  agent: string;
  threadId: string;
  /** Id of its task; null while none is known. */
  taskId: string | null;
  /** The task whose question this call answers. */
  continues: string | null;
  /** A message may have reached the remote agent: look before anything is sent (D13). */
  maySent: boolean;
  /** Milliseconds since the call was first taken, by the database's clock. */
  elapsedMs: number;
}

export type RemoteClaimed = RemoteClaim | { kind: 'stored'; state: LedgerState; result: Json };

interface Row {
  generation: number;
  agent: string;
  thread_id: string;
  external_id: string | null;
  may_sent: boolean;
  elapsed_ms: number;
}

/** Takes a call, fencing the worker before (D17). Nothing is sent yet; the first taker also takes the question that waits for an answer, if there is one. */
export async function claimRemote(pool: Pool, key: string): Promise<RemoteClaimed> {
  return inTransaction(pool, async (db) => {
    const { rows } = await db.query<Row>(
      `update holdfast.ledger_entry e set state = 'dispatched', version = e.version + 1, generation = e.generation + 1, dispatched_at = coalesce(e.dispatched_at, now())
       from holdfast.turn t where e.key = $1 and t.turn_id = e.turn_id and e.state in ('pending', 'dispatched')
       returning e.generation, t.agent, t.thread_id, e.external_id, (extract(epoch from now() - e.dispatched_at) * 1000)::float8 as elapsed_ms,
         exists (select from holdfast.physical_call p where p.key = e.key and p.outcome in ('open', 'uncertain', 'succeeded')) as may_sent`,
      [key],
    );
    const row = rows[0];
    if (row === undefined) return storedOf(db, key);
    return {
      kind: 'claimed', generation: row.generation, agent: row.agent, threadId: row.thread_id, taskId: row.external_id, continues: await continued(db, key),
      maySent: row.may_sent, elapsedMs: Math.round(row.elapsed_ms),
    };
  });
}

async function storedOf(db: Db, key: string): Promise<RemoteClaimed> {
  const { rows } = await db.query<{ state: LedgerState; result: Json }>('select state, result from holdfast.ledger_entry where key = $1', [key]);
  const row = rows[0];
  if (row === undefined) throw new Error(`call ${key} is not stored`);
  return { kind: 'stored', state: row.state, result: row.result };
}

/**
 * The question is taken once: of two calls of one reply only the first answers it, and a retry finds what the first try took. A call that ends
 * before its message has reached the remote agent gives it back (trigger `remote_question`).
 */
async function continued(db: Db, key: string): Promise<string | null> {
  const { rows } = await db.query<{ continues: string | null }>(
    `with me as (
       select e.key, e.name, t.agent, t.thread_id from holdfast.ledger_entry e join holdfast.turn t using (turn_id)
       where e.key = $1 and not exists (select from holdfast.remote_call r where r.key = $1)
     ), taken as (
       select r.key, r.question from holdfast.remote_call r join me on r.agent = me.agent and r.thread_id = me.thread_id and r.child = me.name
       where r.question is not null order by r.key limit 1 for update of r
     ), answered as (
       update holdfast.remote_call r set question = null from taken where r.key = taken.key
     )
     insert into holdfast.remote_call (key, agent, thread_id, child, continues)
     select me.key, me.agent, me.thread_id, me.name, (select question from taken) from me
     returning continues`,
    [key],
  );
  if (rows[0] !== undefined) return rows[0].continues;
  const known = await db.query<{ continues: string | null }>('select continues from holdfast.remote_call where key = $1', [key]);
  return known.rows[0]?.continues ?? null;
}

/**
 * Commits a physical call before its first byte leaves (D10); false when another worker owns the call, or its turn was cancelled or has ended
 * (D17, D27). A repeat, after an answer of the database that got lost, changes nothing.
 */
export async function beginSend(db: Db, key: string, generation: number, physicalCallId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `with owner as materialized (
       select t.turn_id from holdfast.turn t where t.turn_id = (select turn_id from holdfast.ledger_entry where key = $1) and t.cancel_requested_at is null and t.ended_at is null
       for share
     ), still as (
       select e.key, e.generation from owner join holdfast.ledger_entry e using (turn_id) where e.key = $1 and e.generation = $2 and e.state = 'dispatched'
       for share of e
     )
     insert into holdfast.physical_call (id, key, generation) select $3, key, generation from still
     on conflict (id) do update set generation = excluded.generation`,
    [key, generation, physicalCallId],
  );
  return rowCount === 1;
}

/** Records the id of the task before anybody waits for its end; a first id stays. Answers the id that is recorded, null when the call is settled. */
export async function recordTask(db: Db, key: string, taskId: string, physicalCallId: string | null): Promise<string | null> {
  const { rows } = await db.query<{ external_id: string }>(
    `with physical as (
       update holdfast.physical_call set ended_at = now(), outcome = 'succeeded' where id = $3 and outcome = 'open'
     )
     update holdfast.ledger_entry set external_id = coalesce(external_id, $2), version = version + 1 where key = $1 and state = 'dispatched' returning external_id`,
    [key, taskId, physicalCallId],
  );
  return rows[0]?.external_id ?? null;
}

export interface RemoteFinish {
  key: string;
  generation: number;
  /** The call that was answered, when its answer is the outcome. */
  physicalCallId: string | null;
  state: 'succeeded' | 'failed' | 'cancelled';
  result: Json;
  reason: string | null;
  /** The task that waits for an answer, for the next call of the same child in the same conversation. */
  question: string | null;
  /** The task that this call continues does not wait any more, although the call did not reach it. */
  answered: boolean;
}

/** Stores how a call ended together with the question that it leaves; nothing happens when a newer owner has it (D17) or on a repeat. */
export async function finishRemote(db: Db, finish: RemoteFinish): Promise<void> {
  await db.query(
    `with stored as (
       update holdfast.ledger_entry set state = $3, result = $4, reason = $5, version = version + 1 where key = $1 and generation = $2 and state = 'dispatched'
       returning key
     ), asked as (
       update holdfast.remote_call r set question = $6, answered = r.answered or $7 from stored where r.key = stored.key
     )
     update holdfast.physical_call set ended_at = now(), outcome = case when $3 = 'succeeded' then 'succeeded' else 'rejected' end, note = $5
     where id = $8 and outcome = 'open'`,
    [finish.key, finish.generation, finish.state, JSON.stringify(finish.result), finish.reason, finish.question, finish.answered, finish.physicalCallId],
  );
}
