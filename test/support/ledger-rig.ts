import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../contracts/json.js';
import type { InLedger } from '../../contracts/sql.js';
import { inLedger } from '../../store/application/in-ledger.js';
import { digestOf } from '../../store/hash.js';
import { claimEffect } from '../../store/ledger/claim-effect.js';
import type { Pool } from '../../store/pool.js';

/** A turn `t` whose effects are entered by `enter`. */
export async function seedOpenTurn(pool: Pool): Promise<void> {
  await pool.query(`insert into holdfast.definition (digest, agent, body) values ('d', 'main', '{"effects":[]}')`);
  await pool.query(
    `insert into holdfast.turn (turn_id, agent, thread_id, request_id, input_digest, input, requester, workflow_id, root_turn_id, status, definition_digest)
     values ('t', 'main', 'th', 't', 'd', '{"text":"hi"}', 'kim', 'wf-t', 't', 'working', 'd')`,
  );
}

/** Enters an effect as `pending`, once. */
export async function enter(pool: Pool, key: string, args: JsonObject): Promise<void> {
  await pool.query(
    `insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, args, args_digest) values ($1, 't', 1, 0, 'effect', 'book', $2, $3) on conflict do nothing`,
    [key, JSON.stringify(args), digestOf(args)],
  );
}

export async function entryOf(pool: Pool, key: string): Promise<{ state: string; generation: number; externalId: string | null; result: JsonObject }> {
  const { rows } = await pool.query<{ state: string; generation: number; externalId: string | null; result: JsonObject }>(
    'select state, generation, external_id as "externalId", result from holdfast.ledger_entry where key = $1', [key],
  );
  return rows[0]!;
}

/** What a worker does around an effect in the ledger's own database: claim, then one transaction. A settled entry gives what is stored (D12). */
export function ledgerFor(pool: Pool, statements: Pool, call: { key: string; args: JsonObject }, signal: AbortSignal): InLedger {
  return async (work) => {
    await enter(pool, call.key, call.args);
    const { state, generation, externalId, result } = await entryOf(pool, call.key);
    if (state === 'succeeded') return { kind: 'ended', value: { kind: 'succeeded', externalId, result } };
    const physicalCallId = randomUUID();
    const claim = await claimEffect(pool, { key: call.key, generation: state === 'pending' ? null : generation, beforeMs: null, physicalCallId, timeoutMs: 5000 });
    if (claim.kind === 'refused') return { kind: 'undone', error: new Error('somebody else has it') };
    return inLedger(statements, { key: call.key, generation: claim.generation, physicalCallId }, { timeoutMs: 5000, signal }, work);
  };
}
