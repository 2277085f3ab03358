import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, startCancelRig, type CancelRig } from '../support/cancel-rig.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { waitFor } from '../support/wait.js';

let rig: CancelRig;

beforeAll(async () => {
  rig = await startCancelRig();
  rig.model.script(plays({
    slow: [{ text: 'late', delayMs: 4000 }],
    guarded: [{ calls: [call('guarded'), call('guarded', 3)] }],
    ask: [{ calls: [{ name: 'ask_user', args: { question: 'Which day?' } }] }],
    pick: [{ calls: [call('guarded'), call('guarded', 3)] }, { text: 'One of two.' }],
  }));
  await rig.engine.worker();
});

afterAll(() => rig?.close());

const cancel = (turnId: string) => rig.engine.client.cancel(turnId, { as: 'tester' });

describe('cancel while a turn waits', () => {
  it('D27: while the model call hangs → the connection to the model closes and the turn ends cancelled', async () => {
    const turn = await rig.begin('hello', { agent: 'deaf' });
    await waitFor(() => rig.deaf.open === 1, { what: 'the hanging model call' });
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling', turnId: turn.turnId });
    expect(await rig.engine.settled(turn.turnId)).toMatchObject({ status: 'cancelled', text: 'The request was cancelled (cancelled by tester). Nothing was changed outside.' });
    expect(rig.deaf).toEqual({ open: 0, asked: 1 });
  });

  it('D27: a queued turn → leaves the queue at once, those before and behind it are answered in order', async () => {
    const first = await rig.begin('slow');
    const [second, third] = [await rig.begin('two', { thread: first.thread }), await rig.begin('three', { thread: first.thread })];
    expect(await cancel(second.turnId)).toEqual({ result: 'cancelling', turnId: second.turnId, status: 'cancelled' });
    expect((await rig.engine.client.turn(first.turnId)).status).toBe('working');
    expect(await rig.engine.temporal.workflow.getHandle(first.workflowId).query('state')).toMatchObject({ queued: [third.turnId] });
    const ends = await Promise.all([first, second, third].map(({ turnId }) => rig.engine.settled(turnId)));
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'cancelled', 'completed']);
    expect(requestAbout(rig.model.requests, 'two')).toBeUndefined();
    expect(said(requestAbout(rig.model.requests, 'three'), 'user')).toEqual(['slow', 'three']);
    expect(rig.model.violations).toEqual([]);
  });

  it('D4, D27: an input that waits to be steered into the running turn → never reaches the model, the running turn goes on', async () => {
    const first = await rig.begin('slow');
    const steered = await rig.begin('steered words', { thread: first.thread, mode: 'steer' });
    expect(await cancel(steered.turnId)).toMatchObject({ result: 'cancelling', turnId: steered.turnId, status: 'cancelled' });
    expect(await rig.engine.settled(first.turnId)).toMatchObject({ status: 'completed', text: 'late' });
    await rig.engine.send('after', { thread: first.thread });
    expect(said(requestAbout(rig.model.requests, 'after'), 'user')).toEqual(['slow', 'after']);
    expect(rig.model.violations).toEqual([]);
  });

  it('D24, D27, case 36: while two calls wait for approval → both are cancelled and answered, a later approval is refused', async () => {
    const turn = await rig.begin('guarded');
    const { approvals } = await waitFor(async () => { const now = await rig.engine.client.turn(turn.turnId); return now.approvals.length === 2 && now; }, { what: 'two approvals' });
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    for (const { id, hash } of approvals) {
      expect(await rig.engine.client.decide(id, { hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'refused', code: 'turn_finished' });
    }
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'cancelled' }, { state: 'cancelled' }], approvals: [{ state: 'cancelled' }, { state: 'cancelled' }] });
    expect(await rig.engine.client.approvals({ threadId: turn.thread })).toEqual([]);
    await rig.engine.send('next', { thread: turn.thread });
    expect(said(requestAbout(rig.model.requests, 'next'), 'tool').map((text) => JSON.parse(text) as object)).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D4, D27: while the agent waits for input → ends cancelled, and the next input is a turn of its own', async () => {
    const turn = await rig.begin('ask', { agent: 'asker' });
    await rig.engine.until(turn.turnId, 'waiting_input');
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    expect(await rig.engine.settled(turn.turnId)).toMatchObject({ status: 'cancelled' });
    expect(await rig.engine.send('fresh', { agent: 'asker', thread: turn.thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(rig.model.violations).toEqual([]);
  });

  it('case 10: X rejected, Y approved, then a new input → each call has its one true result and the next request is accepted', async () => {
    const turn = await rig.begin('pick');
    const { approvals } = await waitFor(async () => { const now = await rig.engine.client.turn(turn.turnId); return now.approvals.length === 2 && now; }, { what: 'two approvals' });
    const [x, y] = [...approvals].sort((a, b) => a.key.localeCompare(b.key));
    expect(await rig.engine.client.decide(x!.id, { hash: x!.hash, decision: 'reject', as: 'boss' })).toMatchObject({ result: 'rejected' });
    expect(await rig.engine.client.decide(y!.id, { hash: y!.hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'approved' });
    expect(await waitFor(async () => { const now = await rig.engine.client.turn(turn.turnId); return now.status === 'completed' && now; }, { what: 'the end' })).toMatchObject({ text: 'One of two.' });
    const [effect, ...others] = await rig.done(turn);
    expect(others).toEqual([]);
    await rig.engine.send('next', { thread: turn.thread });
    const results = said(requestAbout(rig.model.requests, 'next'), 'tool');
    expect(results.map((text) => (JSON.parse(text) as { status: string }).status)).toEqual(['rejected', 'confirmed']);
    expect(results[1]).toContain(effect!.id);
    expect(rig.model.violations).toEqual([]);
  });
});
