import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PendingApproval } from '../../contracts/steps.js';
import type { TurnView } from '../../contracts/turn.js';
import { conversationHandle, only, refused, startRig, type Rig } from '../support/approval-rig.js';
import { refusalsOf } from '../support/by-hand.js';
import { uniqueName } from '../support/names.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 4 };

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

const pending = (turn: TurnView) => conversationHandle(rig.engine, turn).query<PendingApproval[]>('pendingApprovals');
const modelCalls = async (turn: TurnView) => (await rig.engine.client.turn(turn.turnId)).usage.modelCalls;

/** The turn as soon as `count` of its proposals wait. */
function withPending(turn: TurnView, count: number): Promise<TurnView> {
  return waitFor(async () => {
    const now = await rig.engine.client.turn(turn.turnId);
    return now.approvals.filter(({ state }) => state === 'pending').length === count && (await pending(turn)).length === count && now;
  }, { what: `${count} pending proposals` });
}

describe('several proposals of one turn (D26)', () => {
  it('D26, case 21: answered in the order 3, 1, 2 each call gets its own decision, and the turn waits until the last is decided', async () => {
    const asked = await rig.ask({ asks: [1, 2, 3].map((people) => ({ args: { ...TABLE, people } })) });
    const { approvals } = await withPending(asked, 3);
    const [first, second, third] = asked.effects.map(({ key }) => approvals.find((approval) => approval.key === key));
    expect([first, second, third].map((approval) => approval?.args['people'])).toEqual([1, 2, 3]);

    expect(await rig.decide(third!, 'approve')).toMatchObject({ result: 'approved', approvalId: third!.id });
    await waitFor(async () => (await rig.engine.client.ledgerEntry(third!.key)).state === 'succeeded', { what: 'the third effect' });
    expect(await rig.decide(first!, 'reject')).toMatchObject({ result: 'rejected', approvalId: first!.id });
    const waiting = await withPending(asked, 1);
    expect(waiting).toMatchObject({ status: 'waiting_approval', effects: [{ state: 'cancelled' }, { state: 'pending' }, { state: 'succeeded' }] });
    expect(await pending(asked)).toMatchObject([{ approvalId: second!.id, key: second!.key, hash: second!.hash }]);
    expect((await rig.done(asked)).map(({ key }) => key)).toEqual([third!.key]);
    expect(await modelCalls(asked)).toBe(1);

    expect(await rig.decide(second!, 'approve')).toMatchObject({ result: 'approved', approvalId: second!.id });
    const end = await rig.engine.until(asked.turnId, 'completed');
    expect(end.effects.map(({ state, args }) => [state, args])).toEqual([
      ['cancelled', { ...TABLE, people: 1 }], ['succeeded', { ...TABLE, people: 2 }], ['succeeded', { ...TABLE, people: 3 }],
    ]);
    expect((await rig.done(asked)).map(({ key }) => key)).toEqual([third!.key, second!.key]);
    expect(end.text).toMatch(/^told: .*rejected.* \| .*"people":2.* \| .*"people":3/);
    expect(rig.model.violations).toEqual([]);
  });

  it('D21, D22, case 24: an approval covers one call: not its twin in the same reply, not the same call later in the turn, not another thread', async () => {
    const thread = uniqueName('thread');
    const [asked, elsewhere] = await Promise.all([
      rig.ask({ asks: [{ args: TABLE }, { args: TABLE }], then: [{ args: TABLE }] }, { thread }), rig.ask({ asks: [{ args: TABLE }] }),
    ]);
    const [first, twin] = (await withPending(asked, 2)).approvals;
    expect(new Set([first!.hash, twin!.hash, only(elsewhere).hash]).size).toBe(3);
    expect(await rig.decide(first!, 'approve')).toMatchObject({ result: 'approved' });
    await waitFor(async () => (await rig.done(asked)).length === 1, { what: 'the first effect' });
    for (const approval of [twin!, only(elsewhere)]) {
      expect(await rig.engine.client.approval(approval.id)).toMatchObject({ state: 'pending', decisions: [] });
      expect(await rig.decide({ id: approval.id, hash: first!.hash }, 'approve')).toMatchObject(refused('wrong_hash'));
    }
    expect(await rig.decide(twin!, 'approve')).toMatchObject({ result: 'approved' });
    const later = (await withPending(asked, 1)).approvals[2]!;
    expect(later).toMatchObject({ args: TABLE, state: 'pending', decisions: [] });
    expect(await rig.done(asked)).toHaveLength(2);
    expect(await rig.decide(later, 'reject')).toMatchObject({ result: 'rejected' });
    await rig.engine.until(asked.turnId, 'completed');

    const next = await rig.ask({ asks: [{ args: TABLE }] }, { thread });
    expect(only(next)).toMatchObject({ state: 'pending', decisions: [] });
    expect([await rig.done(asked), await rig.done(next), await rig.done(elsewhere)].map((effects) => effects.length)).toEqual([2, 0, 0]);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('a decision sent to another conversation', () => {
  it.each([
    ['approved', { decision: 'approve' }, { decision: 'approve' }],
    ['rejected', { decision: 'reject' }, { decision: 'reject' }],
    ['edited', { decision: 'edit', args: { ...TABLE, people: 5 } }, { decision: 'edit', argsJson: JSON.stringify({ ...TABLE, people: 5 }) }],
  ])('D22: a proposal that is %s there is refused, by signal and by update; it waits on unchanged in its own, as does the one there', async (_what, signal, update) => {
    const [mine, other] = await Promise.all([rig.ask({ asks: [{ args: TABLE }] }), rig.ask({ asks: [{ args: TABLE }] })]);
    const there = conversationHandle(rig.engine, other);
    const named = { approvalId: only(mine).id, hash: only(mine).hash, as: 'kim' };
    await there.signal('decide', { ...named, ...signal });
    await waitFor(async () => (await refusalsOf(rig.engine, other.workflowId)).length === 1, { what: 'the refusal' });
    expect(await refusalsOf(rig.engine, other.workflowId)).toEqual([{ kind: 'decide', message: expect.stringMatching(/^unknown_approval: .*decide there/) }]);
    await expect(there.executeUpdate('submitDecision', { args: [{ ...named, ...update }] })).rejects.toMatchObject({ cause: { type: 'unknown_approval' } });
    for (const turn of [mine, other]) {
      expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ version: 1, state: 'pending', decisions: [] });
      expect(await rig.done(turn)).toEqual([]);
      expect(await rig.decide(only(turn), 'approve')).toMatchObject({ result: 'approved' });
      await rig.engine.settled(turn.turnId);
      expect(await rig.done(turn)).toHaveLength(1);
    }
    expect(rig.model.violations).toEqual([]);
  });
});
