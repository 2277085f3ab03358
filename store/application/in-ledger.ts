import type { Attempt, Judged, Sql } from '../../contracts/sql.js';
import { recordEffect } from '../ledger/record-effect.js';
import type { Pool, PoolClient } from '../pool.js';
import { attempt, change } from './transaction.js';
import type { Limits } from './transaction.js';

export interface LedgerCall {
  key: string;
  generation: number;
  physicalCallId: string;
}

/** The entry belongs to somebody else by now, or its turn was cancelled: the transaction was undone (D17, D27). */
export class Superseded extends Error {}

/**
 * Runs a change of the application in the transaction that records its success (D18). The entry is locked first, so that whoever wants to take
 * it over, or end its turn, waits until this transaction has ended, and an entry that is open after that had no effect. The turn is looked at last
 * and not locked (store/turn/lock.ts): a cancel is not kept waiting by the statement, and one that comes after the look tells of a success (D28).
 */
export async function inLedger(pool: Pool, call: LedgerCall, limits: Limits, work: (sql: Sql) => Promise<Judged>): Promise<Attempt<Judged>> {
  return attempt<Judged>(pool, limits, async (client) => {
    await lockEntry(client, call);
    const judged = await change(client, work);
    if (judged.kind !== 'succeeded') return { commit: false, value: judged };
    await requireOpenTurn(client, call);
    const state = await recordEffect(client, { ...call, state: 'succeeded', call: 'succeeded', externalId: judged.externalId, result: judged.result, note: null });
    if (state !== 'succeeded') throw new Superseded('another worker has taken the effect over; nothing was kept');
    return { commit: true, value: judged };
  });
}

async function lockEntry(client: PoolClient, call: LedgerCall): Promise<void> {
  const { rowCount } = await client.query(
    `select from holdfast.ledger_entry where key = $1 and generation = $2 and state = 'dispatched' for no key update`, [call.key, call.generation],
  );
  if (rowCount !== 1) throw new Superseded('another worker has taken the effect over; nothing was done');
}

async function requireOpenTurn(client: PoolClient, call: LedgerCall): Promise<void> {
  const { rowCount } = await client.query(
    `select from holdfast.turn t where t.turn_id = (select turn_id from holdfast.ledger_entry where key = $1) and t.cancel_requested_at is null and t.ended_at is null`,
    [call.key],
  );
  if (rowCount !== 1) throw new Superseded('the turn was cancelled before the change was committed; nothing was kept');
}
