import type { JsonObject } from '../../contracts/json.js';
import type { EntryKind } from '../../contracts/ledger.js';
import type { StoredReply } from '../../contracts/reply.js';
import type { Db } from '../pool.js';

/** A call of the reply that becomes a ledger entry, `pending` until it runs. */
export interface NewEntry {
  key: string;
  idx: number;
  kind: Extract<EntryKind, 'effect' | 'child' | 'input'>;
  name: string;
  args: JsonObject;
  argsDigest: string;
  needsApproval: boolean;
}

export interface ReplyToStore {
  key: string;
  generation: number;
  physicalCallId: string;
  reply: StoredReply;
  entries: NewEntry[];
  inputTokens: number;
  outputTokens: number;
  /** What the reply cost, in millionths of a US dollar. */
  costMicros: number;
}

/** Stores a judged reply and the entries of its calls, under the definition that judged it, together; false when a newer generation owns the step (D17). */
export async function storeReply(db: Db, item: ReplyToStore): Promise<boolean> {
  const { rows } = await db.query<{ stored: boolean }>(
    `with stored as (
       update holdfast.ledger_entry set state = 'succeeded', result = $3, input_tokens = $4, output_tokens = $5, cost_micros = $8, version = version + 1
       where key = $1 and generation = $2 and state = 'dispatched'
       returning turn_id, step, definition_digest
     ), physical as (
       update holdfast.physical_call set ended_at = now(), outcome = 'succeeded' where id = $6 and outcome not in ('succeeded', 'rejected', 'not_sent')
     ), calls as (
       insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, args, args_digest, needs_approval, definition_digest)
       select c.key, s.turn_id, s.step, c.idx, c.kind, c.name, c.args, c."argsDigest", c."needsApproval", s.definition_digest
       from stored s, jsonb_to_recordset($7::jsonb) as c(key text, idx int, kind text, name text, args jsonb, "argsDigest" text, "needsApproval" boolean)
     )
     select exists (select from stored) as stored`,
    [item.key, item.generation, JSON.stringify(item.reply), item.inputTokens, item.outputTokens, item.physicalCallId, JSON.stringify(item.entries), item.costMicros],
  );
  return rows[0]?.stored === true;
}
