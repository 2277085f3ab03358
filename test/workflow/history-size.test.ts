import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { requestAbout } from '../support/plays.js';
import { eventsOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script((request) => (request.messages.at(-1)?.role === 'tool' ? { text: `Done. ${'x'.repeat(5000)}` } : { calls: [{ name: 'reserve', args: { date: '2026-12-24', people: 4 } }] }));
  engine = await startEngine(testToml({ modelUrl: model.url, bookingUrl: booking.url }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

interface Cost {
  /** Events without those of workflow tasks, whose number depends on how fast the worker was. */
  events: Record<string, number>;
  bytes: number;
  /** Messages of the turn's last prompt. */
  messages: number;
}

/** Runs one turn, waits until its run is over, and says what it cost. */
async function turnAlone(thread: string, name: string): Promise<Cost> {
  const turn = await engine.send(`${name} ${thread}`, { thread, requestId: name });
  expect(turn).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
  const handle = engine.temporal.workflow.getHandle(turn.workflowId);
  const { historySize } = await waitFor(async () => {
    const description = await handle.describe();
    return description.status.name === 'COMPLETED' && description;
  }, { what: 'the run to end' });
  const events: Record<string, number> = {};
  for (const event of await eventsOf(engine, turn.workflowId)) {
    const type = Object.keys(event).find((field) => field.endsWith('EventAttributes')) ?? '';
    if (!type.startsWith('workflowTask')) events[type] = (events[type] ?? 0) + 1;
  }
  return { events, bytes: historySize ?? 0, messages: requestAbout(model.requests, `${name} ${thread}`)?.body.messages.length ?? 0 };
}

describe('what a turn costs', () => {
  it('D1, D8: turn 30 of a conversation, with all turns between in runs that have ended, has the events and bytes of turn 2', async () => {
    const thread = uniqueName('grow');
    await turnAlone(thread, 'turn 01');
    const second = await turnAlone(thread, 'turn 02');
    const between = await Promise.all(Array.from({ length: 26 }, (_, index) => engine.client.submit({ agent: 'main', threadId: thread, requestId: `b${index}`, text: `between ${index}`, as: 'tester' })));
    for (const { turnId } of between) expect(await engine.settled(turnId)).toMatchObject({ status: 'completed' });
    await turnAlone(thread, 'turn 29');
    const thirtieth = await turnAlone(thread, 'turn 30');
    expect(thirtieth.events).toEqual(second.events);
    expect(second.bytes).toBeGreaterThan(1000);
    expect(Math.abs(thirtieth.bytes - second.bytes)).toBeLessThan(0.15 * second.bytes);
    // The window's 20 messages and the system prompt (C3).
    expect(thirtieth.messages).toBeLessThanOrEqual(21);
    expect(second.messages).toBeGreaterThan(5);
    expect(model.violations).toEqual([]);
  });
});
