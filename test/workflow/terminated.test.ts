import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { recordDecision } from '../../store/proposal/decide.js';
import { only, startRig, type Rig, type Wish } from '../support/approval-rig.js';
import { uniqueName } from '../support/names.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 10 };

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

/** Text and request id of a turn, so that its sender can repeat it. */
const request = (wish: Wish) => ({ agent: 'desk', threadId: uniqueName('ended'), requestId: 'r', text: JSON.stringify(wish), as: 'tester' });

const proposalsOf = async (turnId: string): Promise<object[]> => (await rig.engine.pool.query<object>('select version, state from holdfast.proposal where turn_id = $1', [turnId])).rows;

async function terminate(turn: TurnView): Promise<void> {
  const handle = rig.engine.temporal.workflow.getHandle(turn.workflowId);
  await handle.terminate('by mistake');
  await waitFor(async () => (await handle.describe()).status.name === 'TERMINATED', { what: 'the end of the run' });
}

describe('a run that somebody terminates in the Temporal UI', () => {
  it('D2, D9, D21: a repeat of the request takes the turn up where it stood: the proposal keeps its hash, no model call is made twice', async () => {
    const asked = request({ asks: [{ args: TABLE }] });
    const { turnId } = await rig.engine.client.submit(asked);
    const before = await rig.engine.until(turnId, 'waiting_approval');
    await terminate(before);
    const calls = rig.model.requests.length;
    expect(await rig.engine.client.cancel(turnId, { as: 'tester' })).toMatchObject({ result: 'refused', message: expect.stringContaining('the same request id') as string });

    expect(await rig.engine.client.submit(asked)).toMatchObject({ turnId, intoTurnId: turnId, repeat: true });
    expect(await waitFor(async () => { const answer = await rig.decide(only(before), 'approve'); return answer.result !== 'refused' && answer; }, { what: 'the decision' }))
      .toMatchObject({ result: 'approved', hash: only(before).hash });
    const after = await rig.engine.settled(turnId);
    expect(after.status).toBe('completed');
    expect(await rig.done(after)).toHaveLength(1);
    expect(rig.model.requests.length - calls).toBe(1);
  });

  it('D13, D21: after an approved effect was sent: the repeat looks first, finds what it did, and asks for no second approval', async () => {
    const asked = request({ asks: [{ args: TABLE }] });
    const { turnId } = await rig.engine.client.submit(asked);
    const before = await rig.engine.until(turnId, 'waiting_approval');
    await rig.booking.hold('after');
    try {
      await rig.decide(only(before), 'approve');
      await waitFor(async () => (await rig.booking.held()) === 1, { what: 'the answer that is held back' });
      await terminate(before);
      await rig.engine.client.submit(asked);
      const after = await rig.engine.until(turnId, 'completed');
      expect(after).toMatchObject({ status: 'completed', effects: [{ state: 'reconciled' }] });
      expect(await rig.done(after)).toHaveLength(1);
      expect((await rig.booking.posts())[after.effects[0]!.key]).toBe(1);
      expect(await proposalsOf(turnId)).toEqual([{ version: 1, state: 'approved' }]);
    } finally {
      await rig.booking.release();
    }
  });

  it('D13, D22: after an approval whose effect was not sent yet: the repeat performs it, once, and asks for no second approval', async () => {
    const asked = request({ asks: [{ args: TABLE }] });
    const { turnId } = await rig.engine.client.submit(asked);
    const before = await rig.engine.until(turnId, 'waiting_approval');
    await terminate(before);
    // Stored by the run that was ended, which could not act on it any more.
    const { id: approvalId, hash } = only(before);
    expect(await recordDecision(rig.engine.pool, { approvalId, hash, decision: 'approve', reason: null, by: { user: 'kim', roles: ['approver'] }, workflowId: before.workflowId })).toMatchObject({ result: 'approved' });
    await rig.engine.client.submit(asked);
    const after = await rig.engine.until(turnId, 'completed');
    expect(after).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
    expect(await rig.done(after)).toHaveLength(1);
    expect(await proposalsOf(turnId)).toEqual([{ version: 1, state: 'approved' }]);
  });

  it('D2, D27: a cancel after the repeat ends it, and nothing was done', async () => {
    const asked = request({ asks: [{ args: TABLE }] });
    const { turnId } = await rig.engine.client.submit(asked);
    await terminate(await rig.engine.until(turnId, 'waiting_approval'));
    await rig.engine.client.submit(asked);
    expect((await rig.engine.client.cancel(turnId, { as: 'tester' })).result).toBe('cancelling');
    const after = await rig.engine.settled(turnId);
    expect(after.status).toBe('cancelled');
    expect(await rig.done(after)).toEqual([]);
  });

  it('D2, D3: a repeat also takes up a turn that still waited in line', async () => {
    const thread = uniqueName('line');
    const first = { ...request({ asks: [{ args: TABLE }] }), threadId: thread };
    const second = { ...request({ asks: [] }), text: 'hello', threadId: thread, requestId: 's' };
    const { turnId } = await rig.engine.client.submit(first);
    const waiting = await rig.engine.until(turnId, 'waiting_approval');
    const queued = await rig.engine.client.submit(second);
    await terminate(waiting);
    expect(await rig.engine.client.submit(second)).toMatchObject({ turnId: queued.turnId, status: 'queued', repeat: true });
    expect(await rig.engine.settled(queued.turnId)).toMatchObject({ status: 'completed', text: 'heard: hello' });
    await rig.engine.client.submit(first);
    await waitFor(async () => (await rig.decide(only(waiting), 'reject')).result === 'rejected', { what: 'the decision' });
    await rig.engine.settled(turnId);
  });
});
