import type { UserContent } from '../../contracts/message.js';
import type { InputMode, TurnStatus } from '../../contracts/turn.js';
import { turnIdOf } from '../../domain/keys.js';
import { storableJson } from '../../domain/text.js';
import { digestOf, sha256Hex } from '../hash.js';
import type { Db } from '../pool.js';

export interface NewInput extends UserContent {
  agent: string;
  threadId: string;
  requestId: string;
  mode: InputMode;
  requester: string;
  workflowId: string;
}

/** `intoTurnId`: the turn that works on the input, another one when it became part of that one (D4). */
export type Accepted = { kind: 'accepted' | 'repeat'; turnId: string; intoTurnId: string; status: TurnStatus } | { kind: 'conflict'; turnId: string };

/**
 * Stores an input once. A repeated request id meets its own row; other content under it is a conflict (D2). The row is unique by its id
 * and by its request id: naming one of the two as the only conflict would let two senders at once collide on the other.
 */
export async function acceptInput(db: Db, input: NewInput): Promise<Accepted> {
  const turnId = turnIdOf(input.agent, input.threadId, input.requestId, sha256Hex);
  const content = storableJson<UserContent>({
    text: input.text,
    ...(input.data === undefined ? {} : { data: input.data }),
    ...(input.files === undefined ? {} : { files: input.files }),
  });
  const digest = digestOf({ text: content.text, data: content.data ?? null, files: (content.files ?? []).map((file) => ({ ...file })) });
  const { rows } = await db.query<{ status: TurnStatus; input_digest: string; into_id: string; fresh: boolean }>(
    `with known_thread as (
       insert into holdfast.thread (agent, thread_id) values ($2, $3) on conflict do nothing
     ), fresh as (
       insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, mode, requester, workflow_id, root_turn_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $1)
       on conflict do nothing
       returning status, input_digest
     )
     select status, input_digest, $1 as into_id, true as fresh from fresh
     union all
     select coalesce(m.status, t.status), t.input_digest, coalesce(t.merged_into, t.turn_id), false from holdfast.turn t left join holdfast.turn m on m.turn_id = t.merged_into
     where t.turn_id = $1`,
    [turnId, input.agent, input.threadId, input.requestId, digest, JSON.stringify(content), input.mode, input.requester, input.workflowId],
  );
  const row = rows.find((candidate) => candidate.fresh) ?? rows[0];
  // Two first senders at once: the loser's snapshot may not show the winner's row yet.
  if (row === undefined) return acceptInput(db, input);
  if (row.input_digest !== digest) return { kind: 'conflict', turnId };
  return { kind: row.fresh ? 'accepted' : 'repeat', turnId, intoTurnId: row.into_id, status: row.status };
}
