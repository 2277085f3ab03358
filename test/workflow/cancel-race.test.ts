import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, startCancelRig, type CancelRig } from '../support/cancel-rig.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { waitFor } from '../support/wait.js';

let rig: CancelRig;

/** A move whose answer takes as many milliseconds as the newest user text says. */
const later = (reply: { text?: string; calls?: ReturnType<typeof call>[] }) => (request: { messages: { role: string; content?: unknown }[] }) => {
  const text = String(request.messages.findLast((message) => message.role === 'user')?.content);
  return { ...reply, delayMs: Number(text.split(' ')[1]) };
};

beforeAll(async () => {
  rig = await startCancelRig();
  rig.model.script(plays({
    effect: [later({ calls: [call('reserve')] }), { text: 'Booked.' }],
    words: [later({ text: 'Done.' })],
    hang: [{ hang: true }],
  }));
  await rig.engine.worker();
});

afterAll(() => rig?.close());

const cancel = (turnId: string) => rig.engine.client.cancel(turnId, { as: 'tester' });

/** Begins a turn whose model call takes `ms`, and cancels it when that call was seen. */
async function race(play: string, ms: number, n: number) {
  const text = `${play} ${ms} ${n}`;
  const turn = await rig.begin(text);
  await waitFor(() => requestAbout(rig.model.requests, text) !== undefined, { what: text });
  const answer = await cancel(turn.turnId);
  const { rows } = await rig.engine.pool.query(`select key, generation from holdfast.ledger_entry where turn_id = $1 and kind = 'effect'`, [turn.turnId]);
  return { turn, answer, dispatched: rows.filter((row: { generation: number }) => row.generation > 0) as { key: string; generation: number }[] };
}

/** `count` races, ten at a time. */
async function races(play: string, count: number, step: number) {
  const all: Awaited<ReturnType<typeof race>>[] = [];
  for (let n = 0; n < count; n += 10) all.push(...(await Promise.all(Array.from({ length: 10 }, (_, i) => race(play, (i * step) % 100, n + i)))));
  return all;
}

describe('cancel at the same moment as something else', () => {
  it('D27, D28, case 36: cancel and the model asking for an effect, 30 times → nothing is dispatched after the acknowledgement, and what happened is told', async () => {
    for (const { turn, answer, dispatched } of await races('effect', 30, 10)) {
      const end = await rig.engine.settled(turn.turnId);
      const effects = await rig.done(turn);
      expect(end.status).toBe(answer.result === 'cancelling' ? 'cancelled' : 'completed');
      expect(effects.length).toBe(end.effects.filter(({ state }) => state === 'succeeded').length);
      if (answer.result !== 'cancelling') continue;
      const { rows } = await rig.engine.pool.query(`select key, generation from holdfast.ledger_entry where turn_id = $1 and kind = 'effect' and generation > 0`, [turn.turnId]);
      expect(rows).toEqual(dispatched);
      for (const { id } of effects) expect(end.text).toContain(`reserve (${id})`);
      if (effects.length === 0) expect(end.text).toContain('Nothing was changed outside.');
    }
    expect(rig.model.violations).toEqual([]);
  });

  it('D31, case 36: cancel and completion, 60 times → one terminal state that never changes and agrees with the answer to the cancel', async () => {
    const ends = [];
    for (const { turn, answer } of await races('words', 60, 3)) {
      const end = await rig.engine.settled(turn.turnId);
      if (answer.result === 'already_ended') expect(answer).toEqual({ result: 'already_ended', turnId: turn.turnId, status: end.status });
      else expect({ answer: answer.result, status: end.status }).toEqual({ answer: 'cancelling', status: 'cancelled' });
      expect(end.text).toBe(end.status === 'completed' ? 'Done.' : 'The request was cancelled (cancelled by tester). Nothing was changed outside.');
      ends.push(end);
    }
    for (const end of ends) {
      expect(await cancel(end.turnId)).toEqual({ result: 'already_ended', turnId: end.turnId, status: end.status });
      expect(await rig.engine.client.turn(end.turnId)).toEqual(end);
    }
    const { rows } = await rig.engine.pool.query(`select turn_id from holdfast.message where turn_id = any($1) and body ->> 'role' = 'assistant' group by turn_id having count(*) <> 1`, [ends.map(({ turnId }) => turnId)]);
    expect(rows).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D27, D31: cancel together with the submit → the turn ends once, and cancelled when the cancel was taken', async () => {
    const tries = await Promise.all(Array.from({ length: 10 }, async (_, n) => {
      const turn = await rig.begin(`words ${n * 5} early${n}`);
      return { turn, answer: await cancel(turn.turnId) };
    }));
    for (const { turn, answer } of tries) {
      const end = await rig.engine.settled(turn.turnId);
      expect(end.status).toBe(answer.result === 'cancelling' ? 'cancelled' : 'completed');
      await rig.engine.send(`next ${turn.turnId}`, { thread: turn.thread });
      expect(said(requestAbout(rig.model.requests, `next ${turn.turnId}`), 'user').at(-1)).toContain('next');
    }
    expect(rig.model.violations).toEqual([]);
  });

  it('D5, D27: Temporal\'s own cancellation request → the running turn and those behind it end cancelled, and the thread takes new input', async () => {
    const first = await rig.begin('hang');
    await waitFor(() => requestAbout(rig.model.requests, 'hang') !== undefined, { what: 'the hanging call' });
    const second = await rig.begin('words 0 behind', { thread: first.thread });
    const steered = await rig.begin('words 0 steered', { thread: first.thread, mode: 'steer' });
    await rig.engine.temporal.workflow.getHandle(first.workflowId).cancel();
    for (const { turnId } of [first, second, steered]) {
      expect(await rig.engine.settled(turnId)).toMatchObject({ status: 'cancelled', reason: 'cancelled from Temporal' });
    }
    expect(await rig.engine.send('fresh', { thread: first.thread })).toMatchObject({ status: 'completed', text: 'ok' });
    expect(requestAbout(rig.model.requests, 'words 0 steered')).toBeUndefined();
    expect(rig.model.violations).toEqual([]);
  });

  it.each([['the running turn', {}], ['a named turn', 'turnId']])('D5, I11: the signal `cancel` for %s → the same as by the client', async (_, named) => {
    const turn = await rig.begin('hang');
    await waitFor(async () => (await rig.engine.client.turn(turn.turnId)).status === 'working', { what: 'the turn to work' });
    const payload = { reason: 'by hand', as: 'operator', ...(named === 'turnId' ? { turnId: turn.turnId } : {}) };
    await rig.engine.temporal.workflow.getHandle(turn.workflowId).signal('cancel', payload);
    expect(await rig.engine.settled(turn.turnId)).toMatchObject({ status: 'cancelled', reason: 'by hand' });
    expect(rig.model.violations).toEqual([]);
  });
});
