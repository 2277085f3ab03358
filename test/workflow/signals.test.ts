import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConversationState } from '../../contracts/steps.js';
import type { TurnView } from '../../contracts/turn.js';
import { workflowIdOf } from '../../domain/keys.js';
import { sha256Hex } from '../../store/hash.js';
import { conversationHandle, only, startRig, type Rig } from '../support/approval-rig.js';
import { expectUnharmed, refusalsOf } from '../support/by-hand.js';
import { uniqueName } from '../support/names.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 4 };

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

const handleOf = (turn: TurnView) => conversationHandle(rig.engine, turn);
const waiting = (thread?: string) => rig.ask({ asks: [{ args: TABLE }] }, thread === undefined ? {} : { thread });

/** Turns of a thread in the order of their acceptance, as soon as there are so many and all have ended. */
function ended(thread: string, count: number): Promise<TurnView[]> {
  return waitFor(async () => {
    const turns = (await rig.engine.client.turns({ thread })).filter(({ status }) => status === 'completed');
    return turns.length === count && turns;
  }, { what: `${count} turns of ${thread}` });
}

describe('the signal `decide`', () => {
  it('D5, I11: approves, by the person that it names, as the client does', async () => {
    const turn = await waiting();
    const { id, hash } = only(turn);
    await handleOf(turn).signal('decide', { approvalId: id, hash, decision: 'approve', reason: 'fine', as: 'kim' });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(only(end)).toMatchObject({ state: 'approved', decisions: [{ by: 'kim', decision: 'approve', reason: 'fine' }] });
    expect(await rig.done(turn)).toHaveLength(1);
    await handleOf(turn).signal('decide', { approvalId: id, hash, decision: 'approve', as: 'kim' });
    await waitFor(async () => (await handleOf(turn).describe()).status.name === 'COMPLETED', { what: 'the run to close' });
    expect(await refusalsOf(rig.engine, turn.workflowId)).toEqual([]);
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, I11, D24: rejects, and the model is told the reason', async () => {
    const turn = await waiting();
    const { id, hash } = only(turn);
    await handleOf(turn).signal('decide', { approvalId: id, hash, decision: 'reject', reason: 'too many' });
    expect(await rig.engine.until(turn.turnId, 'completed')).toMatchObject({ text: expect.stringMatching(/rejected.*too many/), approvals: [{ state: 'rejected', decisions: [{ by: 'dev' }] }] });
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, I11, D23: edits; the new version is in the query `pendingApprovals` and needs its own approval', async () => {
    const turn = await waiting();
    const { id, hash } = only(turn);
    const handle = handleOf(turn);
    const pending = () => handle.query<{ approvalId: string; version: number; hash: string }[]>('pendingApprovals');
    expect(await pending()).toEqual([{ approvalId: id, version: 1, hash, expiresAt: Date.parse(only(turn).expiresAt), turnId: turn.turnId, key: only(turn).key, effect: 'reserve' }]);
    await handle.signal('decide', { approvalId: id, hash, decision: 'edit', args: { ...TABLE, people: 5 }, as: 'kim' });
    const [next] = await waitFor(async () => { const now = await pending(); return now[0]?.version === 2 && now; }, { what: 'version 2' });
    expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ version: 2, hash: next?.hash, args: { ...TABLE, people: 5 }, state: 'pending', decisions: [] });
    expect(await rig.done(turn)).toEqual([]);
    await handle.signal('decide', { approvalId: id, hash: next?.hash, decision: 'approve', as: 'kim' });
    expect(await rig.engine.until(turn.turnId, 'completed')).toMatchObject({ effects: [{ state: 'succeeded', args: { ...TABLE, people: 5 } }] });
    expect(rig.model.violations).toEqual([]);
  });
});

describe('the signal `input`', () => {
  it.each(['with', 'without'])('D2, I11: %s a request id starts a conversation that is not running, and a second one is its next turn', async (which) => {
    const thread = uniqueName('hand');
    const send = async (n: number) => rig.engine.temporal.workflow.signalWithStart('conversation', {
      workflowId: workflowIdOf('desk', thread, sha256Hex), taskQueue: rig.engine.taskQueue, signal: 'input',
      signalArgs: [{ text: `hello ${n}`, as: 'kim', ...(which === 'with' ? { requestId: `r${n}` } : {}) }],
    });
    await send(1);
    await ended(thread, 1);
    const handle = await send(2);
    const turns = await ended(thread, 2);
    expect(turns.map(({ text }) => text).sort()).toEqual(['heard: hello 1', 'heard: hello 2']);
    if (which === 'with') expect(turns.map(({ requestId }) => requestId).sort()).toEqual(['r1', 'r2']);
    await expectUnharmed(rig.engine, handle);
    expect(rig.model.violations).toEqual([]);
  });

  it('D2, D4, I11: the same request id again changes nothing, other text under it is refused; the queue is in the query `state`', async () => {
    const thread = uniqueName('hand');
    const turn = await waiting(thread);
    const handle = handleOf(turn);
    const state = () => handle.query<ConversationState>('state');
    expect(await state()).toEqual({ agent: 'desk', threadId: thread, running: { turnId: turn.turnId, status: 'waiting_approval', step: 1 }, queued: [], unknownEffects: [] });
    for (const text of ['next', 'next', 'other']) await handle.signal('input', { requestId: 'r1', text });
    await handle.signal('input', { text: 'last', data: { a: [1] }, mode: 'queue' });
    await waitFor(async () => (await refusalsOf(rig.engine, turn.workflowId)).length === 1 && (await state()).queued.length === 2, { what: 'the inputs' });
    expect(await refusalsOf(rig.engine, turn.workflowId)).toEqual([{ kind: 'input', message: expect.stringMatching(/request id r1 was already used/) }]);
    expect((await rig.engine.client.turn(turn.turnId)).status).toBe('waiting_approval');
    await rig.decide(only(turn), 'reject');
    const turns = await ended(thread, 3);
    expect(turns.map(({ text }) => text?.slice(0, 12)).sort()).toEqual(['heard: last\n', 'heard: next', expect.stringMatching(/^told/)]);
    await expectUnharmed(rig.engine, handle);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('the signal `settle`', () => {
  it('D16, I11: settles an unknown effect against the version that was seen, and the waiting turn goes on', async () => {
    await rig.booking.setFaults({ dropNext: { when: 'after' } });
    const turn = await rig.ask({ asks: [{ effect: 'lone', args: TABLE }] });
    expect(turn.status).toBe('waiting_unknown');
    const key = turn.effects[0]?.key ?? '';
    expect(await handleOf(turn).query<ConversationState>('state')).toMatchObject({ running: { status: 'waiting_unknown' }, unknownEffects: [key] });
    const { version } = await rig.engine.client.ledgerEntry(key);
    await handleOf(turn).signal('settle', { key, version, outcome: 'succeeded', externalId: 'R-seen', reason: 'called them', as: 'op' });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end.effects).toMatchObject([{ state: 'reconciled', outcome: 'succeeded', externalId: 'R-seen' }]);
    expect((await rig.engine.client.ledgerEntry(key)).evidence.at(-1)).toMatchObject({ by: 'op', note: 'settled as succeeded: called them' });
    expect(await handleOf(turn).query<ConversationState>('state')).toMatchObject({ running: null, unknownEffects: [] });
    expect(rig.model.violations).toEqual([]);
  });
});
