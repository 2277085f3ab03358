import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestCancel } from '../../store/turn/cancel.js';
import type { TestWorker } from '../support/engine.js';
import { effectOf, startUndoRig, type UndoRig } from '../support/undo-rig.js';

let rig: UndoRig;
let worker: TestWorker;

beforeAll(async () => {
  rig = await startUndoRig();
  worker = await rig.engine.worker();
});
afterAll(() => rig?.close());

const stateOf = async (key: string): Promise<string> => (await rig.engine.client.ledgerEntry(key)).state;

/** The effect `blind`, and a try to undo it of which nobody knows what came of it. */
async function undecided(): Promise<{ key: string; id: string | null; turnId: string; undo: string }> {
  const { key, externalId: id } = effectOf(await rig.engine.send('blind'), 'blind');
  await rig.booking.setFaults({ dropNext: { when: 'after' } });
  const turnId = await rig.begin(key);
  const waiting = await rig.engine.until(turnId, 'waiting_unknown');
  return { key, id, turnId, undo: waiting.effects[0]!.key };
}

describe('whether an effect is undone is read from the ledger, not from how the turn that undid it ended', () => {
  it('D29, D28: a try that was cancelled after its effect was done counts, its turn says so, and no second one begins', async () => {
    const done = effectOf(await rig.engine.send('blind'), 'blind');
    await worker.stop();
    worker = await rig.engine.worker({ at: 'before_report', signal: 'HOLD' });
    const turnId = await rig.begin(done.key);
    await worker.reached;
    const { workflowId } = await rig.engine.client.turn(turnId);
    expect(await requestCancel(rig.engine.pool, { turnId, workflowId, reason: 'too late' })).toMatchObject({ cancelling: true });
    expect(await rig.compensate(done.key)).toMatchObject({ result: 'refused', code: 'already_undone' });
    worker.release();
    const undone = await rig.engine.settled(turnId);
    expect(undone).toMatchObject({ status: 'cancelled', effects: [{ state: 'succeeded' }] });
    expect(undone.text).toBe(`The request was cancelled (too late). blind (${done.externalId}) was undone by blind_back (${done.externalId}).`);
    expect(await rig.compensate(done.key)).toMatchObject({ result: 'refused', code: 'already_undone' });
    expect(await rig.cancels(done.externalId)).toBe(1);
  });

  it('D29, D16: while nobody knows whether a try has undone it, none begins; what it is settled as decides', async () => {
    const { key, id, turnId, undo } = await undecided();
    expect(await rig.compensate(key)).toMatchObject({ result: 'being_undone', turnId });
    await rig.engine.client.cancel(turnId, { as: 'op' });
    const ended = await rig.engine.settled(turnId);
    expect(ended.status).toBe('cancelled');
    expect(ended.text).toContain(`It is not known whether blind (${id}) was undone by blind_back. A person has to check.`);
    const refused = await rig.compensate(key);
    expect(refused).toMatchObject({ result: 'refused', code: 'undo_unknown', message: expect.stringContaining(undo) as string });
    const { version } = await rig.engine.client.ledgerEntry(undo);
    await rig.engine.client.settle(undo, { version, outcome: 'failed', reason: 'the guest still stands there', as: 'op' });
    const second = await rig.begin(key);
    expect(second).not.toBe(turnId);
    expect(await rig.engine.settled(second)).toMatchObject({ status: 'completed' });
    expect(await rig.compensate(key)).toMatchObject({ result: 'refused', code: 'already_undone' });
  });

  it('D29, D16: a person who settles an open try as done ends its turn as completed', async () => {
    const { key, id, turnId, undo } = await undecided();
    const { version } = await rig.engine.client.ledgerEntry(undo);
    await rig.engine.client.settle(undo, { version, outcome: 'succeeded', externalId: 'c-1', reason: 'seen there', as: 'op' });
    expect(await rig.engine.settled(turnId)).toMatchObject({ status: 'completed', text: `blind (${id}) was undone by blind_back (c-1).` });
    expect(await stateOf(undo)).toBe('reconciled');
    expect(await rig.compensate(key)).toMatchObject({ result: 'refused', code: 'already_undone' });
    expect(await rig.cancels(id)).toBe(1);
  });
});

describe('the conversation of a try', () => {
  it('I11, D29: is Holdfast\'s own: it is listed by its name, and nobody can submit into it', async () => {
    const { key } = effectOf(await rig.engine.send('one'), 'reserve');
    const turnId = await rig.begin(key);
    const { threadId } = await rig.engine.until(turnId, 'waiting_approval');
    expect(threadId).toBe(`~undo 1 ${key}`);
    expect(await rig.engine.client.turns({ thread: threadId })).toMatchObject([{ turnId }]);
    await expect(rig.engine.send('hi', { thread: threadId })).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('"~"') as string });
    await expect(rig.engine.client.input(turnId, 'hi', { as: 'tester' })).rejects.toMatchObject({ code: 'refused' });
    await rig.engine.client.cancel(turnId, { as: 'op' });
    expect(await rig.engine.settled(turnId)).toMatchObject({ status: 'cancelled' });
  });
});

describe('what cannot be undone is refused by name, and nothing begins', () => {
  const tries = async (key: string): Promise<number> => (await rig.engine.pool.query('select from holdfast.detached where key = $1', [key])).rowCount ?? 0;

  it('D29: a placeholder without a value', async () => {
    const { key } = effectOf(await rig.engine.send('nameless'), 'nameless');
    expect(await rig.compensate(key)).toMatchObject({ result: 'refused', code: 'missing_value', message: expect.stringContaining('{note}') as string });
    expect(await tries(key)).toBe(0);
  });

  it('D29, D28: also by its policy, and the entry keeps why', async () => {
    const turn = await rig.engine.send('nope');
    const { key, externalId } = effectOf(turn, 'nameless_auto');
    expect(turn.text).toContain(`Already done and not undone: nameless_auto (${externalId})`);
    expect(await tries(key)).toBe(0);
    expect((await rig.engine.client.ledgerEntry(key)).evidence).toMatchObject([{ by: 'policy', note: expect.stringContaining('{note}') as string }]);
  });

  it('D29, D34: a definition that this release cannot read', async () => {
    const turn = await rig.engine.send('blind');
    const { key } = effectOf(turn, 'blind');
    const change = (sql: string) => rig.engine.pool.query(`update holdfast.definition set body = ${sql} where digest = $1`, [turn.definition]);
    await change(`body || '{"future": true}'`);
    try {
      expect(await rig.compensate(key)).toMatchObject({ result: 'refused', code: 'unusable_definition', message: expect.stringContaining('future') as string });
    } finally {
      await change(`body - 'future'`);
    }
    expect(await tries(key)).toBe(0);
  });
});
