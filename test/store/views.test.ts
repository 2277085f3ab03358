import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { approvalView, listApprovals } from '../../store/views/approvals.js';
import { cancelQueued } from '../../store/views/cancel-queued.js';
import { ledgerEntryView, listLedger, unsettledKeys } from '../../store/views/ledger.js';
import { approvalRoute } from '../../store/views/routes.js';
import { turnStanding } from '../../store/views/standing.js';
import { listTurns, turnView } from '../../store/views/turns.js';
import { freshDatabase } from '../support/database.js';
import { seedEntry, seedProposal, seedTurn } from './views-seed.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 3 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate holdfast.turn, holdfast.thread cascade');
});

/** A root that called the child agent `verification`, whose effect waits for approval. */
async function seedTree(): Promise<void> {
  await seedTurn(pool, { id: 'root' });
  await seedEntry(pool, { turn: 'root', step: 1, idx: -1, kind: 'model', name: 'default', tokens: [10, 2] });
  const opener = await seedEntry(pool, { turn: 'root', step: 1, idx: 0, kind: 'child', name: 'verification', state: 'dispatched' });
  await seedEntry(pool, { turn: 'root', step: 1, idx: 1, kind: 'effect', name: 'mail', externalId: 'm-1', dispatched: true });
  await seedTurn(pool, { id: 'sub', thread: 'th/sub', root: 'root', parentKey: opener, status: 'waiting_approval' });
  await seedEntry(pool, { turn: 'sub', step: 1, idx: -1, kind: 'model', name: 'default', tokens: [5, 1] });
  const key = await seedEntry(pool, { turn: 'sub', step: 1, idx: 0, kind: 'effect', name: 'reserve', state: 'pending' });
  await seedProposal(pool, { id: 'apr', version: 1, key, turn: 'sub', state: 'superseded' });
  await seedProposal(pool, { id: 'apr', version: 2, key, turn: 'sub' });
}

describe('a turn and its tree', () => {
  test('D26: a working root whose child waits shows the waiting, the child\'s approval and the whole tree\'s usage', async () => {
    await seedTree();
    const view = await turnView(pool, 'root');
    expect(view).toMatchObject({ turnId: 'root', status: 'waiting_approval', steps: 1 });
    expect(view?.effects.map((e) => [e.effect, e.state, e.externalId])).toEqual([['mail', 'succeeded', 'm-1'], ['reserve', 'pending', null]]);
    expect(view?.approvals.map((a) => [a.id, a.version, a.turnId, a.threadId])).toEqual([['apr', 2, 'root', 'th']]);
    // The child agent's call is no model call of its own: its turn's calls count.
    expect(view?.usage).toEqual({ modelCalls: 2, inputTokens: 15, outputTokens: 3, costUsd: null, effects: 1 });
  });

  test('D26: a child\'s turn shows its own part only', async () => {
    await seedTree();
    const view = await turnView(pool, 'sub');
    expect(view?.effects.map((e) => e.effect)).toEqual(['reserve']);
    expect(view?.usage.modelCalls).toBe(1);
  });

  test('D4: an input that became part of a running turn reads as that turn', async () => {
    await seedTurn(pool, { id: 'running' });
    await seedTurn(pool, { id: 'steered', status: 'completed', mergedInto: 'running', ended: true });
    expect(await turnView(pool, 'steered')).toMatchObject({ turnId: 'running', status: 'working' });
    expect(await turnStanding(pool, 'steered')).toMatchObject({ turnId: 'running', status: 'working' });
    expect((await listTurns(pool)).map((t) => t.turnId)).toEqual(['running']);
  });

  test('D2: a turn that does not exist is null, not an error', async () => {
    expect(await turnView(pool, `x'; drop table turn; --`)).toBeNull();
    expect(await turnStanding(pool, 'none')).toBeNull();
  });
});

describe('lists', () => {
  test('turns come newest first, by status also where only a child waits, and never more than asked for', async () => {
    await seedTree();
    await seedTurn(pool, { id: 'later', thread: 'other', status: 'completed', ended: true });
    expect((await listTurns(pool)).map((t) => t.turnId)).toEqual(['later', 'root']);
    expect((await listTurns(pool, { status: 'waiting_approval' })).map((t) => t.turnId)).toEqual(['root']);
    expect((await listTurns(pool, { thread: 'other' })).map((t) => t.turnId)).toEqual(['later']);
    expect(await listTurns(pool, { limit: 1 })).toHaveLength(1);
  });

  test('D22: approvals are the pending ones, oldest first, under the root\'s thread; show gives the latest version', async () => {
    await seedTree();
    const key = await seedEntry(pool, { turn: 'root', step: 2, idx: 0, kind: 'effect', name: 'mail', state: 'pending' });
    await seedProposal(pool, { id: 'older', key, turn: 'root', ageSeconds: 60 });
    expect((await listApprovals(pool)).map((a) => [a.id, a.version])).toEqual([['older', 1], ['apr', 2]]);
    expect(await listApprovals(pool, { threadId: 'th/sub' })).toEqual([]);
    expect((await listApprovals(pool, { state: 'superseded' })).map((a) => a.hash)).toEqual(['hash-apr-1']);
    expect(await approvalView(pool, 'apr')).toMatchObject({ version: 2, hash: 'hash-apr-2', effect: 'reserve', decisions: [] });
    expect(await approvalRoute(pool, 'apr')).toMatchObject({ turnId: 'sub', workflowId: 'wf-sub', ended: false });
  });

  test('D22: decisions carry person, time and reason', async () => {
    await seedTree();
    await pool.query(`insert into holdfast.decision (approval_id, version, person, decision, reason) values ('apr', 2, 'kim', 'approve', 'fine')`);
    const [decision] = (await approvalView(pool, 'apr'))?.decisions ?? [];
    expect(decision).toMatchObject({ by: 'kim', decision: 'approve', reason: 'fine' });
    expect(new Date(decision?.at ?? '').toISOString()).toBe(decision?.at);
  });
});

describe('ledger', () => {
  test('C15: entries come in the order of turns and steps, filtered by turn with its children', async () => {
    await seedTree();
    await seedTurn(pool, { id: 'later' });
    await seedEntry(pool, { turn: 'later', step: 1, idx: 0, kind: 'effect', name: 'mail', state: 'unknown' });
    expect((await listLedger(pool, { turnId: 'root' })).map((e) => e.key)).toEqual(['root.1.-1', 'root.1.0', 'root.1.1', 'sub.1.-1', 'sub.1.0']);
    expect((await listLedger(pool, { state: 'unknown' })).map((e) => e.key)).toEqual(['later.1.0']);
    expect((await listLedger(pool, { kind: 'child' })).map((e) => e.key)).toEqual(['root.1.0']);
    expect((await listLedger(pool, { limit: 2 })).map((e) => e.key)).toEqual(['sub.1.0', 'later.1.0']);
    expect(await unsettledKeys(pool)).toEqual(['later.1.0']);
  });

  test('D15: an entry shows its attempts and every piece of evidence, also an inconclusive one', async () => {
    await seedTree();
    await pool.query(`insert into holdfast.physical_call (id, key, generation, outcome, note) values ('p1', 'root.1.1', 1, 'uncertain', 'reset')`);
    await pool.query(`insert into holdfast.evidence (key, by, found, note) values ('root.1.1', 'reconcile', 'inconclusive', 'HTTP 500'), ('root.1.1', 'kim', null, 'seen')`);
    const entry = await ledgerEntryView(pool, 'root.1.1');
    expect(entry?.attempts).toMatchObject([{ physicalCallId: 'p1', outcome: 'uncertain', note: 'reset' }]);
    expect(entry?.evidence).toMatchObject([{ by: 'reconcile', found: 'inconclusive' }, { by: 'kim', found: null, note: 'seen' }]);
    expect(entry).toMatchObject({ kind: 'effect', effect: 'mail', result: 'done', args: { people: 4 } });
    expect(await ledgerEntryView(pool, 'none')).toBeNull();
  });
});

describe('standing', () => {
  test('D16: a queued turn tells which turn in front of it waits for a person', async () => {
    await seedTurn(pool, { id: 'front', status: 'waiting_unknown' });
    await seedTurn(pool, { id: 'elsewhere', thread: 'other', status: 'waiting_unknown' });
    await seedTurn(pool, { id: 'back', status: 'queued' });
    expect(await turnStanding(pool, 'back')).toEqual({ turnId: 'back', status: 'queued', behind: { turnId: 'front', status: 'waiting_unknown' } });
    expect(await turnStanding(pool, 'front')).toEqual({ turnId: 'front', status: 'waiting_unknown', behind: null });
  });

  test('D4: a queued input behind a turn that waits for input is not stuck: it is the answer', async () => {
    await seedTurn(pool, { id: 'front', status: 'waiting_input' });
    await seedTurn(pool, { id: 'answer', status: 'queued' });
    expect(await turnStanding(pool, 'answer')).toMatchObject({ behind: null });
  });

  test('D27: only a turn that no run has opened is cancelled without one, once', async () => {
    await seedTurn(pool, { id: 'stored', status: 'queued' });
    expect(await cancelQueued(pool, 'stored', 'not needed')).toBe(true);
    expect(await cancelQueued(pool, 'stored', 'again')).toBe(false);
    expect(await turnView(pool, 'stored')).toMatchObject({ status: 'cancelled', reason: 'not needed' });
    await pool.query(`insert into holdfast.definition (digest, agent, body) values ('d', 'booking', '{}')`);
    await seedTurn(pool, { id: 'opened', status: 'working' });
    await pool.query(`update holdfast.turn set definition_digest = 'd' where turn_id = 'opened'`);
    expect(await cancelQueued(pool, 'opened', 'x')).toBe(false);
  });
});
