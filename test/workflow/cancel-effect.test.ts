import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { call, startCancelRig, type CancelRig } from '../support/cancel-rig.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { waitFor } from '../support/wait.js';

let rig: CancelRig;

beforeAll(async () => {
  rig = await startCancelRig();
  rig.model.script(plays({
    book: [{ calls: [call('reserve')] }, { text: 'Booked.' }],
    blind: [{ calls: [call('blind')] }, { text: 'Booked.' }],
    both: [{ calls: [call('reserve'), call('blind')] }, { text: 'Both.' }],
  }));
  await rig.engine.worker();
});

afterEach(async () => {
  await Promise.all([rig.booking.release(), rig.blind.release(), rig.booking.clearFaults(), rig.blind.clearFaults()]);
});

afterAll(() => rig?.close());

const cancel = (turnId: string) => rig.engine.client.cancel(turnId, { as: 'tester', reason: 'changed my mind' });

/** What the model is told in the next turn of a thread: results of calls and its own earlier words. */
async function nextContext(thread: string): Promise<{ results: string[]; texts: string[] }> {
  const words = `next of ${thread}`;
  expect(await rig.engine.send(words, { thread })).toMatchObject({ status: 'completed' });
  const request = requestAbout(rig.model.requests, words);
  return { results: said(request, 'tool'), texts: said(request, 'assistant') };
}

describe('cancel while an effect is in flight', () => {
  it('D27, D28, case 36: it succeeds after the cancel → the turn waits for it, ends cancelled and tells it by its id, as does the next turn', async () => {
    await rig.booking.hold('after');
    const turn = await rig.begin('book');
    await rig.held(rig.booking);
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    expect((await rig.engine.client.turn(turn.turnId)).status).toBe('cancelling');
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    await rig.booking.release();
    const end = await rig.engine.settled(turn.turnId);
    const [effect] = await rig.done(turn);
    expect(end).toMatchObject({ status: 'cancelled', reason: 'changed my mind', effects: [{ state: 'succeeded', externalId: effect!.id }] });
    expect(end.text).toContain(`Already done and not undone: reserve (${effect!.id}).`);
    expect(await cancel(turn.turnId)).toEqual({ result: 'already_ended', turnId: turn.turnId, status: 'cancelled' });
    const { results, texts } = await nextContext(turn.thread);
    expect(results).toEqual([expect.stringContaining(effect!.id)]);
    expect(texts.at(-1)).toBe(end.text);
    expect(await rig.booking.posts()).toMatchObject({ [end.effects[0]!.key]: 1 });
    expect(rig.model.violations).toEqual([]);
  });

  it('D13, D28: its answer is lost → it is looked up, never sent again, and told with what the target says', async () => {
    await rig.booking.hold('after');
    await rig.booking.setFaults({ dropNext: { count: 1, when: 'after' } });
    const turn = await rig.begin('book');
    await rig.held(rig.booking);
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    await rig.booking.release();
    const end = await rig.engine.settled(turn.turnId);
    const [effect] = await rig.done(turn);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'reconciled', outcome: 'succeeded', externalId: effect!.id }] });
    expect(end.text).toContain(effect!.id);
    expect((await nextContext(turn.thread)).results).toEqual([expect.stringContaining(effect!.id)]);
    expect(await rig.booking.posts()).toMatchObject({ [end.effects[0]!.key]: 1 });
    expect(rig.model.violations).toEqual([]);
  });

  it('D13, D28: its connection breaks before it had its effect → it is not sent again and the response does not claim it', async () => {
    await rig.booking.hold('before');
    await rig.booking.setFaults({ dropNext: { count: 1, when: 'before' } });
    const turn = await rig.begin('book');
    await rig.held(rig.booking);
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    await rig.booking.release();
    const end = await rig.engine.settled(turn.turnId);
    expect(await rig.done(turn)).toEqual([]);
    expect(end.status).toBe('cancelled');
    expect(end.text).not.toContain('Already done');
    expect(await rig.booking.posts()).toMatchObject({ [end.effects[0]!.key]: 1 });
    expect((await nextContext(turn.thread)).results).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D13, D28: neither look-up nor idempotency and no answer → the entry is unknown and the response says that it is not known', async () => {
    await rig.blind.hold('after');
    await rig.blind.setFaults({ dropNext: { count: 1, when: 'after' } });
    const turn = await rig.begin('blind');
    await rig.held(rig.blind);
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    await rig.blind.release();
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'unknown', externalId: null }] });
    expect(end.text).toContain('Not known whether it was done: blind.');
    expect(JSON.parse((await nextContext(turn.thread)).results[0]!)).toMatchObject({ status: 'unknown' });
    expect(await rig.blind.posts()).toEqual({ '-': 1 });
    expect(rig.model.violations).toEqual([]);
  });

  it('case 10, D28: X done and Y held → X keeps its true result, Y gets its own when it comes', async () => {
    await rig.blind.hold('after');
    const turn = await rig.begin('both');
    await rig.held(rig.blind);
    await waitFor(async () => (await rig.engine.client.turn(turn.turnId)).effects[0]?.state === 'succeeded', { what: 'X to be done' });
    expect(await cancel(turn.turnId)).toMatchObject({ result: 'cancelling' });
    await rig.blind.release();
    const end = await rig.engine.settled(turn.turnId);
    const [x] = await rig.done(turn);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'succeeded', externalId: x!.id }, { state: 'succeeded' }] });
    expect(end.text).toContain(`reserve (${x!.id}), blind (${end.effects[1]!.externalId})`);
    expect((await nextContext(turn.thread)).results).toEqual([expect.stringContaining(x!.id), expect.stringContaining(end.effects[1]!.externalId!)]);
    expect(rig.model.violations).toEqual([]);
  });
});
