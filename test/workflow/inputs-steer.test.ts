import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { lastUser, messagesOf, problemsOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  booking = await startBooking();
  engine = await startEngine(testToml({ modelUrl: model.url, bookingUrl: booking.url }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await booking?.stop();
  await model?.close();
});

const submit = (thread: string, text: string, mode: 'queue' | 'steer' = 'queue') => engine.client.submit({ agent: 'main', threadId: thread, requestId: text, text, mode, as: 'tester' });
const reserve = { calls: [{ name: 'reserve', args: { date: '2026-12-24', people: 2 } }] };

/** A model whose reply to the text `until` waits for `open`. */
function gated(until: string): { open: () => void; reached: () => Promise<unknown> } {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => { open = resolve; });
  const asked = () => model.requests.some(({ body }) => lastUser(body) === until);
  model.script(async (request) => {
    if (lastUser(request) === until) await gate;
    return { text: `re ${lastUser(request)}` };
  });
  return { open, reached: () => waitFor(asked, { what: `the model to be asked ${until}` }) };
}

describe('steer', () => {
  it('D4: inputs steered while an effect runs reach the turn\'s next model call, in order, and read as the turn they joined', async () => {
    model.script([reserve, { whenLastUserIncludes: 'at the window', reply: { text: 'A window table.' } }]);
    const thread = uniqueName('steer');
    await booking.hold();
    const main = await submit(thread, 'a table');
    await waitFor(async () => (await booking.held()) === 1, { what: 'the effect to be held' });
    const steered = [await submit(thread, 'for two', 'steer'), await submit(thread, 'at the window', 'steer')];
    await booking.release();
    const turn = await engine.settled(main.turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'A window table.', usage: { modelCalls: 2, effects: 1 } });
    for (const { turnId, requestId } of steered) {
      expect(await engine.settled(turnId)).toEqual(turn);
      expect(await submit(thread, requestId, 'steer')).toMatchObject({ turnId, intoTurnId: main.turnId, status: 'completed', repeat: true });
    }
    const stored = await messagesOf(engine, thread);
    expect(stored.map(({ body }) => body.role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    expect(stored[3]?.body.text).toBe('for two\n\nat the window');
    expect(problemsOf(stored)).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  it('D4: a steer with nothing running starts a turn of its own', async () => {
    model.script((request) => ({ text: `re ${lastUser(request)}` }));
    const turn = await engine.send('alone', { thread: uniqueName('alone'), mode: 'steer' });
    expect(turn).toMatchObject({ status: 'completed', text: 're alone' });
    expect(model.violations).toEqual([]);
  });

  it('D3, D4: a steer that comes too late for the last model call becomes a turn of its own; queued inputs keep their order', async () => {
    const thread = uniqueName('late');
    const gate = gated(`${thread} first`);
    const first = await submit(thread, `${thread} first`);
    await gate.reached();
    const queued = await submit(thread, `${thread} queued`);
    const late = await submit(thread, `${thread} late`, 'steer');
    const last = await submit(thread, `${thread} last`);
    gate.open();
    for (const { turnId, requestId } of [first, queued, late, last]) {
      expect(await engine.settled(turnId)).toMatchObject({ turnId, status: 'completed', text: `re ${requestId}`, usage: { modelCalls: 1 } });
    }
    const order = (await messagesOf(engine, thread)).filter(({ body }) => body.role === 'user').map(({ turnId }) => turnId);
    expect(order.filter((turnId) => turnId !== late.turnId)).toEqual([first.turnId, queued.turnId, last.turnId]);
    expect(model.violations).toEqual([]);
  });
});
