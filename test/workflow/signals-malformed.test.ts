import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { conversationHandle, only, startRig, type Rig } from '../support/approval-rig.js';
import { expectRefusals, expectUnharmed, refusalsOf, type Malformed } from '../support/by-hand.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 4 };
const HUGE = 'x'.repeat(200_000);

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

const handleOf = (turn: TurnView): WorkflowHandle => conversationHandle(rig.engine, turn);
const waiting = () => rig.ask({ asks: [{ args: TABLE }] });

/** No object at all. */
const NO_OBJECT: Malformed[] = [undefined, null, 'approve', 42, true, [], [null]].map((payload) => [`payload ${JSON.stringify(payload)}`, payload, /expected object/]);

/** Each field of a good payload in turn: absent, of wrong types, and, where it is text, with what cannot be stored. */
function spoiled(good: Record<string, unknown>, optional: string[]): Malformed[] {
  return Object.entries(good).flatMap(([field, value]): Malformed[] => {
    const wrong: [string, unknown][] = [['null', null], ['an object', { a: 1 }], ['a list', [value]], [typeof value === 'string' ? 'a number' : 'text', typeof value === 'string' ? 7 : 'seven']];
    const text: [string, unknown][] = typeof value === 'string' ? [['NUL', 'a\0b'], ['half an emoji', 'a\ud83d'], ['huge text', HUGE]] : [];
    const all = [...wrong, ...text].map(([what, bad]): Malformed => [`${what} as ${field}`, { ...good, [field]: bad }, new RegExp(`at ${field}`)]);
    return optional.includes(field) ? all : [...all, [`no ${field}`, { ...good, [field]: undefined }, new RegExp(`at ${field}`)]];
  });
}

describe('what is sent by hand and cannot be carried out is refused and kept, and the conversation takes the next good one', () => {
  it('D5, I11: `decide`', async () => {
    const [turn, other] = await Promise.all([waiting(), waiting()]);
    const { id, hash } = only(turn);
    const good = { approvalId: id, hash, decision: 'approve', reason: 'ok', as: 'kim' };
    await expectRefusals(rig.engine, handleOf(turn), 'decide', [
      ...NO_OBJECT, ...spoiled(good, ['reason', 'as']),
      ['a bare approve', { decision: 'approve' }, /at approvalId/],
      ['an unknown approval', { ...good, approvalId: 'apr-nothing' }, /^unknown_approval: /],
      ['another hash', { ...good, hash: only(other).hash }, /^wrong_hash: /],
      ['another word', { ...good, decision: 'yes' }, /at decision/],
      ['an edit without arguments', { ...good, decision: 'edit' }, /^invalid_input: /],
      ['an approval with arguments', { ...good, args: TABLE }, /^invalid_input: /],
      ['arguments that do not fit', { ...good, decision: 'edit', args: { people: 'four' } }, /^invalid_edit: /],
      ['no arguments object', { ...good, decision: 'edit', args: [TABLE] }, /at args/],
      ['arguments with NUL', { ...good, decision: 'edit', args: { ...TABLE, name: 'a\0b' } }, /^invalid_edit: /],
      ['no name', { ...good, as: ' ' }, /at as/],
    ]);
    expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ version: 1, state: 'pending', decisions: [] });
    expect(await rig.done(turn)).toEqual([]);
    await handleOf(turn).signal('decide', good);
    await rig.engine.until(turn.turnId, 'completed');
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, I11: `input`', async () => {
    const turn = await waiting();
    const handle = handleOf(turn);
    await expectRefusals(rig.engine, handle, 'input', [
      ...NO_OBJECT,
      ...spoiled({ requestId: 'r1', mode: 'queue', as: 'kim', files: [] }, ['requestId', 'mode', 'as', 'files']).map(([what, payload, why]): Malformed => [what, { text: 'hi', ...(payload as object) }, why])
        .filter(([what]) => what !== 'a list as files'),
      ['no text', { requestId: 'r1' }, /at text/], ['null as text', { text: null }, /at text/], ['a number as text', { text: 5 }, /at text/],
      ['an empty request id', { text: 'hi', requestId: '' }, /at requestId/],
      ['a field that does not exist', { text: 'hi', txet: 'hi' }, /txet/],
      ['a file without size', { text: 'hi', files: [{ id: 'f', name: 'f', mime: 'text/plain' }] }, /size/],
    ]);
    expect(await handle.query('state')).toMatchObject({ queued: [] });
    await handle.signal('input', { text: 'a\0b' });
    await handle.signal('input', { text: HUGE });
    await rig.decide(only(turn), 'reject');
    const texts = await waitFor(async () => {
      const turns = (await rig.engine.client.turns({ thread: turn.threadId })).filter(({ status }) => status === 'completed');
      return turns.length === 3 && turns.map(({ text }) => text);
    }, { what: 'three turns' });
    expect(texts.filter((text) => text === 'heard: a\uFFFDb' || text === `heard: ${HUGE}`)).toHaveLength(2);
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, I11, D27: `cancel`, also of a turn of another conversation', async () => {
    const [turn, other] = await Promise.all([waiting(), waiting()]);
    await expectRefusals(rig.engine, handleOf(turn), 'cancel', [
      ...NO_OBJECT, ...spoiled({ turnId: turn.turnId, reason: 'no', as: 'op' }, ['turnId', 'reason', 'as']),
      ['an unknown turn', { turnId: 'tnothing' }, /there is no turn/],
      ['a field that does not exist', { turn: turn.turnId }, /turn/],
      ['a turn of another conversation', { turnId: other.turnId }, /cancel there/],
    ]);
    for (const { turnId } of [turn, other]) expect((await rig.engine.client.turn(turnId)).status).toBe('waiting_approval');
    expect(await rig.decide(only(other), 'approve')).toMatchObject({ result: 'approved' });
    await rig.engine.until(other.turnId, 'completed');
    await handleOf(turn).signal('cancel', { turnId: turn.turnId, reason: 'no', as: 'op' });
    expect(await rig.engine.until(turn.turnId, 'cancelled')).toMatchObject({ reason: 'no' });
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, I11, D16: `settle`, also of an entry of another conversation', async () => {
    await rig.booking.setFaults({ dropNext: { count: 2, when: 'after' } });
    const [turn, other] = await Promise.all([1, 2].map(() => rig.ask({ asks: [{ effect: 'lone', args: TABLE }] })));
    const keyOf = (one: TurnView | undefined): string => one?.effects[0]?.key ?? '';
    const { version } = await rig.engine.client.ledgerEntry(keyOf(turn));
    const seen = await rig.engine.client.ledgerEntry(keyOf(other));
    const good = { key: keyOf(turn), version, outcome: 'failed', externalId: 'R-1', reason: 'asked', as: 'op' };
    await expectRefusals(rig.engine, handleOf(turn!), 'settle', [
      ...NO_OBJECT, ...spoiled(good, ['externalId', 'as']),
      ['a blank reason', { ...good, reason: ' ' }, /at reason/],
      ['half a version', { ...good, version: 1.5 }, /at version/],
      ['another version', { ...good, version: version - 1 }, /changed to version/],
      ['another outcome', { ...good, outcome: 'done' }, /at outcome/],
      ['an unknown key', { ...good, key: 'k' }, /no effect with the key/],
      ['the key of a model call', { ...good, key: `${turn!.turnId}.1.m` }, /no effect with the key/],
      ['an entry of another conversation', { ...good, key: keyOf(other), version: seen.version }, /settle there/],
    ]);
    expect(await rig.engine.client.ledgerEntry(keyOf(other))).toEqual(seen);
    for (const one of [turn!, other!]) {
      await handleOf(one).signal('settle', { ...good, key: keyOf(one) });
      expect((await rig.engine.until(one.turnId, 'completed')).effects).toMatchObject([{ state: 'reconciled', outcome: 'failed' }]);
    }
    expect(rig.model.violations).toEqual([]);
  });

  it('D5: `ledgerChanged`, which only workers send, changes nothing and stops nothing', async () => {
    const turn = await waiting();
    for (const payload of [undefined, null, 'k', 5, [], {}, { key: 5 }, { key: 'k' }]) await handleOf(turn).signal('ledgerChanged', payload);
    expect(await rig.decide(only(turn), 'approve')).toMatchObject({ result: 'approved' });
    await rig.engine.until(turn.turnId, 'completed');
    await expectUnharmed(rig.engine, handleOf(turn));
    expect(await refusalsOf(rig.engine, turn.workflowId)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it.each([
    ['submitInput', [null, {}, { turnId: 5 }]],
    ['submitDecision', [null, {}, { approvalId: 5 }]],
    ['requestCancel', [{ turnId: 5 }, { as: 5 }, { reason: {} }, { turnId: 'a\0b' }, 'x']],
    ['settleEffect', [null, {}, 'x', { key: 5 }, { key: 'k', version: 1, outcome: 'failed', reason: 'r', as: 5 }, { key: 'a\0b', version: 1, outcome: 'failed', reason: 'r' }]],
  ])('D5, I11: the update `%s` with a malformed payload is answered with a refusal, and nothing is left open', async (name, payloads) => {
    const turn = await waiting();
    for (const payload of payloads) {
      const answer = await handleOf(turn).executeUpdate(name, { args: [payload] }).catch((error: { cause?: { type?: string } }) => ({ result: 'refused', code: error.cause?.type }));
      expect(answer, JSON.stringify(payload)).toMatchObject({ result: 'refused' });
    }
    await expectUnharmed(rig.engine, handleOf(turn));
    expect(await rig.decide(only(turn), 'reject')).toMatchObject({ result: 'rejected' });
    await rig.engine.until(turn.turnId, 'completed');
    await waitFor(async () => (await handleOf(turn).describe()).status.name === 'COMPLETED', { what: 'the run to close' });
    expect(rig.model.violations).toEqual([]);
  });
});
