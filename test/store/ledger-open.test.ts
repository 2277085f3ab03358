import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerState } from '../../contracts/ledger.js';
import { claimEffect } from '../../store/ledger/claim-effect.js';
import { addEvidence, giveUpUnsent, openEffects } from '../../store/ledger/reconcile.js';
import { recordEffect, recordLateResult } from '../../store/ledger/record-effect.js';
import { settleEntry, type SettleEntry } from '../../store/ledger/settle.js';
import { createPool, type Pool } from '../../store/pool.js';
import { endTurn } from '../../store/turn/end.js';
import { freshDatabase } from '../support/database.js';
import { seedTurn } from './views-seed.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;
let seeded = 0;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 4 });
  await seedTurn(pool, { id: 't' });
  await pool.query(`insert into holdfast.definition (digest, agent, body) values ('d', 'booking', '{"effects":[{"name":"reserve","lookup":{"everyMs":1}},{"name":"mail","lookup":null}]}')`);
  await pool.query(`update holdfast.turn set definition_digest = 'd'`);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** An effect with one physical call for each outcome, of generations 1, 2, 3 … Its time is over. */
async function effect(state: LedgerState, calls: string[] = [], name = 'reserve'): Promise<{ key: string; calls: string[] }> {
  const key = `t.${(seeded += 1)}.0`;
  await pool.query(
    `insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, state, generation, args, args_digest, dispatched_at, inflight_until)
     values ($1, 't', $2, 0, 'effect', $3, $4, $5, '{"people":4}', 'd', now(), now() - interval '1 minute')`, [key, seeded, name, state, calls.length]);
  const ids = calls.map(() => randomUUID());
  for (const [index, outcome] of calls.entries()) await pool.query('insert into holdfast.physical_call (id, key, generation, outcome) values ($1, $2, $3, $4)', [ids[index], key, index + 1, outcome]);
  return { key, calls: ids };
}

const stateOf = async (key: string): Promise<object> => (await pool.query('select state, reason, version from holdfast.ledger_entry where key = $1', [key])).rows[0] as object;

describe('settling an unknown effect', () => {
  const word = (key: string, change: Partial<SettleEntry> = {}): SettleEntry => ({ key, version: 0, outcome: 'succeeded', externalId: 'R-1', reason: 'I saw it', by: 'kim', workflowId: 'wf-t', ...change });

  it.each(['succeeded', 'failed', 'retry'] as const)('D2, D16: `%s` that is said again by the same person gets the same answer, and counts once', async (outcome) => {
    const { key } = await effect('unknown', ['uncertain']);
    const first = await settleEntry(pool, word(key, { outcome }));
    expect(first).toMatchObject({ result: outcome === 'retry' ? 'retrying' : 'settled', version: 1 });
    expect(await settleEntry(pool, word(key, { outcome }))).toEqual(first);
    expect((await pool.query('select from holdfast.evidence where key = $1', [key])).rowCount).toBe(1);
  });

  it.each([{ by: 'lee' }, { reason: 'I think so' }, { outcome: 'failed' as const }])('D16: what differs (%j) is refused once it is settled', async (change) => {
    const { key } = await effect('unknown', ['uncertain']);
    await settleEntry(pool, word(key));
    expect(await settleEntry(pool, word(key, change))).toMatchObject({ result: 'refused', code: 'not_unknown' });
  });
});

describe('sending again', () => {
  it('D13, case 28: a resend that was planned in time but comes after the key is forgotten claims nothing', async () => {
    const { key } = await effect('unknown', ['uncertain']);
    const claim = { key, generation: 1, physicalCallId: randomUUID(), timeoutMs: 1000 };
    expect(await claimEffect(pool, { ...claim, beforeMs: Date.now() - 60_000 })).toMatchObject({ kind: 'refused', state: 'unknown', cancelled: false });
    expect((await pool.query('select from holdfast.physical_call where key = $1', [key])).rowCount).toBe(1);
    expect(await claimEffect(pool, { ...claim, beforeMs: Date.now() + 60_000 })).toMatchObject({ kind: 'claimed', generation: 2 });
  });

  it('D15, D17, case 27: a call that succeeded late is not forgotten: a later rejection leaves the effect unknown, never failed', async () => {
    const { key, calls } = await effect('dispatched', ['open', 'open']);
    const success = { key, generation: 1, physicalCallId: calls[0]!, state: 'succeeded', call: 'succeeded', externalId: 'R-1', result: null, note: null } as const;
    expect(await recordEffect(pool, success)).toBeNull();
    expect(await recordLateResult(pool, success)).toMatchObject({ state: 'dispatched' });
    expect(await recordEffect(pool, { ...success, generation: 2, physicalCallId: calls[1]!, state: 'failed', call: 'rejected', externalId: null, note: 'a duplicate' })).toBe('unknown');
  });
});

describe('giving up', () => {
  it('D10: when no try can have had an effect the entry has failed for the reason given', async () => {
    const { key } = await effect('dispatched', ['not_sent', 'absent', 'rejected', 'not_sent']);
    expect(await giveUpUnsent(pool, key, 'nobody answers; nothing was sent')).toBe(true);
    expect(await stateOf(key)).toMatchObject({ state: 'failed', reason: 'nobody answers; nothing was sent' });
  });

  it.each(['uncertain', 'succeeded', 'open'])('D13, D16: after a call that is %s it is unknown, and nothing claims that nothing was sent', async (earlier) => {
    const { key } = await effect('dispatched', [earlier, 'not_sent']);
    expect(await giveUpUnsent(pool, key, 'nobody answers; nothing was sent')).toBe(false);
    expect(await stateOf(key)).toMatchObject({ state: 'unknown', reason: 'an earlier call of it may have had its effect' });
  });
});

describe('the end of a turn', () => {
  it('D10, D28: tells an open effect as not done when every call of it is proven to have had none, and as not known otherwise', async () => {
    const [undone, unsure] = [await effect('dispatched', ['not_sent', 'rejected']), await effect('dispatched', ['not_sent', 'uncertain'], 'mail')];
    const only = async (key: string): Promise<string> => {
      await seedTurn(pool, { id: `only ${key}` });
      await pool.query(`insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, state, generation, args, args_digest) select $2, $1, 1, 0, kind, name, state, generation, args, args_digest from holdfast.ledger_entry where key = $3`, [`only ${key}`, `only ${key}.1.0`, key]);
      await pool.query('update holdfast.physical_call set key = $1 where key = $2', [`only ${key}.1.0`, key]);
      return `only ${key}`;
    };
    const [first, second] = [await only(undone.key), await only(unsure.key)];
    for (const turn of [first, second]) expect(await endTurn(pool, turn, 'cancelled', 'no')).toBe('cancelled');
    const textOf = async (turn: string): Promise<string> => (await pool.query<{ text: string }>('select text from holdfast.turn where turn_id = $1', [turn])).rows[0]!.text;
    expect(await stateOf(`${first}.1.0`)).toMatchObject({ state: 'failed', reason: 'The turn ended before it was done.' });
    expect(await textOf(first)).toContain('Nothing was changed outside.');
    expect(await stateOf(`${second}.1.0`)).toMatchObject({ state: 'unknown' });
    expect(await textOf(second)).toContain('Not known whether it was done: mail');
  });
});

it('D15: the sweep takes what can be looked up, those first that were not looked at for the longest time', async () => {
  await pool.query(`delete from holdfast.ledger_entry`);
  const [a, b, mail] = [await effect('unknown', ['uncertain']), await effect('dispatched', ['uncertain']), await effect('unknown', ['uncertain'], 'mail')];
  const next = async () => (await openEffects(pool, 1)).map(({ key }) => key);
  expect((await openEffects(pool, 9)).map(({ key }) => key)).not.toContain(mail.key);
  for (const { key } of [a, b]) await addEvidence(pool, { key, by: 'schedule', found: 'inconclusive', note: '' });
  expect(await next()).toEqual([a.key]);
  await addEvidence(pool, { key: a.key, by: 'schedule', found: 'inconclusive', note: '' });
  expect(await next()).toEqual([b.key]);
});
