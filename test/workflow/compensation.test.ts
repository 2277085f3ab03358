import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uniqueName } from '../support/names.js';
import { effectOf, startUndoRig, type UndoRig } from '../support/undo-rig.js';

let rig: UndoRig;

beforeAll(async () => {
  rig = await startUndoRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

/** The turn that undoes an effect, once it has ended. */
const undoing = async (key: string) => rig.engine.settled(await rig.undoing(key));

describe('undoing an effect on demand', () => {
  it('D29: is a new effect with its own key and its own approval, once, also when it is asked for again', async () => {
    const turn = await rig.engine.send('one');
    const done = effectOf(turn, 'reserve');
    const begun = await rig.compensate(done.key);
    if (begun.result === 'refused') throw new Error(begun.message);
    expect(begun.result).toBe('begun');
    expect(await rig.compensate(done.key)).toMatchObject({ result: 'being_undone', turnId: begun.turnId });
    const waiting = await rig.engine.until(begun.turnId, 'waiting_approval');
    const [approval] = waiting.approvals;
    expect(approval).toMatchObject({ effect: 'give_back', args: { id: done.externalId }, state: 'pending' });
    expect(await rig.cancels(done.externalId)).toBe(0);
    expect(await rig.engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'approved' });
    const undone = await rig.engine.settled(begun.turnId);
    expect(undone).toMatchObject({ status: 'completed', usage: { modelCalls: 0, effects: 1 } });
    expect(undone.text).toContain(`reserve (${done.externalId}) was undone by give_back`);
    expect(undone.effects[0]!.key).not.toBe(done.key);
    expect(await rig.cancels(done.externalId)).toBe(1);
    expect(await rig.compensate(done.key)).toMatchObject({ result: 'refused', code: 'already_undone' });
  });

  it('D29: a rejected or failed one leaves the effect done, says so, and may be asked for again', async () => {
    const done = effectOf(await rig.engine.send('one'), 'reserve');
    const first = await rig.compensate(done.key);
    if (first.result === 'refused') throw new Error(first.message);
    const [approval] = (await rig.engine.until(first.turnId, 'waiting_approval')).approvals;
    await rig.engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'reject', as: 'kim' });
    const ended = await rig.engine.settled(first.turnId);
    expect(ended).toMatchObject({ status: 'failed', reason: expect.stringContaining('is not undone') as string });
    const second = await rig.compensate(done.key);
    expect(second).toMatchObject({ result: 'begun' });
    if (second.result === 'refused') throw new Error(second.message);
    expect(second.turnId).not.toBe(first.turnId);
    // Cancelled while it begins: its end may be recorded before the answer is on its way.
    expect(['cancelling', 'already_ended']).toContain((await rig.engine.client.cancel(second.turnId, { as: 'op' })).result);
    expect((await rig.engine.settled(second.turnId)).status).toBe('cancelled');
    expect(await rig.cancels(done.externalId)).toBe(0);
  });

  it.each([
    { what: 'an effect without one', text: 'wait', name: 'guarded', code: 'not_done' },
    { what: 'an unknown key', text: null, name: null, code: 'unknown_entry' },
  ])('D29: $what is refused by name', async ({ text, name, code }) => {
    const key = text === null ? 'no.such.key' : effectOf(await rig.engine.send(text), name!).key;
    expect(await rig.compensate(key)).toMatchObject({ result: 'refused', code });
  });
});

describe('undoing by policy', () => {
  it('D29, D28: after a cancel begins by itself, the response says so, and the next turn is told how it ended', async () => {
    const thread = uniqueName('undo');
    const waiting = await rig.engine.send('wait', { thread });
    expect(waiting.status).toBe('waiting_approval');
    await rig.engine.client.cancel(waiting.turnId, { as: 'tester' });
    const turn = await rig.engine.settled(waiting.turnId);
    const done = effectOf(turn, 'auto');
    expect(turn.text).toContain(`it has begun to be undone: auto (${done.externalId})`);
    const undone = await undoing(done.key);
    expect(undone).toMatchObject({ status: 'completed', text: expect.stringContaining(`auto (${done.externalId}) was undone by release`) as string });
    expect(await rig.cancels(done.externalId)).toBe(1);
    await rig.engine.send('hello', { thread });
    expect(JSON.stringify(rig.model.requests.at(-1)?.body.messages)).toContain('was undone by release');
    expect(rig.model.violations).toEqual([]);
  });

  it('D29: after a failure undoes only what its policy names', async () => {
    const turn = await rig.engine.send('both');
    expect(turn.status).toBe('failed');
    const done = effectOf(turn, 'auto');
    expect(await undoing(done.key)).toMatchObject({ status: 'completed' });
    expect(turn.text).toContain(`Already done and not undone: reserve (${effectOf(turn, 'reserve').externalId})`);
    expect((await rig.engine.pool.query('select from holdfast.detached where key = $1', [effectOf(turn, 'reserve').key])).rowCount).toBe(0);
  });

  it('D29, D32: what a child agent has done is undone as well when its parent is cancelled', async () => {
    const waiting = await rig.engine.send('family');
    expect(waiting.status).toBe('waiting_approval');
    await rig.engine.client.cancel(waiting.turnId, { as: 'tester' });
    const turn = await rig.engine.settled(waiting.turnId);
    const done = effectOf(turn, 'auto');
    expect(await undoing(done.key)).toMatchObject({ status: 'completed' });
    expect(await rig.cancels(done.externalId)).toBe(1);
  });
});
