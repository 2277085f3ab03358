import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { sequences } from '../support/sequences.js';
import { eventsOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
const bookings = {} as Record<'together' | 'alone' | 'mixed', Booking>;
let engine: Engine;

/** Number of people tells the calls of a turn apart. */
const call = (name: string, people: number) => ({ name, args: { date: '2026-12-24', people } });
const effect = (name: string, url: string, more = '') => `
[effects.${name}]
type = "http"
input_schema = { type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }
url = "${url}/reservations"
result_id = "id"
timeout = "20s"
${more}
[effects.${name}.idempotency]
`;

beforeAll(async () => {
  model = await startFakeModel();
  for (const name of ['together', 'alone', 'mixed'] as const) bookings[name] = await startBooking();
  engine = await startEngine(testToml({
    modelUrl: model.url,
    more: `
[agents.desk]
instructions = "You are the desk."
effects = ["together", "alone", "mixed", "last"]
${effect('together', bookings.together.url)}
${effect('alone', bookings.alone.url, 'sequential = true')}
${effect('mixed', bookings.mixed.url)}
${effect('last', bookings.mixed.url, 'sequential = true')}
`,
  }));
  model.script(sequences({
    together: [{ calls: [call('together', 1), call('together', 2), call('together', 3)] }, { text: 'Three.' }],
    alone: [{ calls: [call('alone', 1), call('alone', 2), call('alone', 3)] }, { text: 'Three.' }],
    mixed: [{ calls: [call('mixed', 1), call('mixed', 2), call('last', 3), call('mixed', 4), call('mixed', 5)] }, { text: 'Five.' }],
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all(Object.values(bookings).map((booking) => booking.stop()));
  await model?.close();
});

/** What began (`+`) and ended (`-`) in a run: the effects by the place of their call in the reply, in the order of the history. */
async function order(workflowId: string): Promise<string[]> {
  const events = await eventsOf(engine, workflowId);
  const started = new Map<string, string>();
  return events.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const input = scheduled?.input?.payloads?.[0]?.data;
    if (scheduled?.activityType?.name === 'performEffect' && input instanceof Uint8Array) {
      const { key } = JSON.parse(Buffer.from(input).toString()) as { key: string };
      started.set(String(event.eventId), key.slice(key.lastIndexOf('.') + 1));
      return [`+${started.get(String(event.eventId))}`];
    }
    const done = started.get(String(event.activityTaskCompletedEventAttributes?.scheduledEventId));
    return done === undefined ? [] : [`-${done}`];
  });
}

const submit = (name: string) => engine.client.submit({ agent: 'desk', text: `${name} go`, as: 'tester' });
const held = (booking: Booking, count: number) => waitFor(async () => (await booking.held()) === count, { what: `${count} requests at the target` });

describe('the calls of one reply', () => {
  it.concurrent('D6: run in parallel, and the turn goes on when the last one has ended', async () => {
    await bookings.together.hold();
    const { turnId } = await submit('together');
    await held(bookings.together, 3);
    expect(await engine.client.turn(turnId)).toMatchObject({ status: 'working', usage: { modelCalls: 1 } });
    await bookings.together.release();
    const turn = await engine.settled(turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'Three.', usage: { effects: 3 } });
    expect((await order(turn.workflowId)).slice(0, 3)).toEqual(['+0', '+1', '+2']);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D6: of an effect that is `sequential` run one after the other, in the order of the reply', async () => {
    await bookings.alone.hold();
    const { turnId } = await submit('alone');
    await held(bookings.alone, 1);
    expect(Object.keys(await bookings.alone.posts())).toHaveLength(1);
    await bookings.alone.release();
    const turn = await engine.settled(turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'Three.', usage: { effects: 3 } });
    expect(await order(turn.workflowId)).toEqual(['+0', '-0', '+1', '-1', '+2', '-2']);
    expect((await bookings.alone.log()).map(({ key }) => key)).toEqual(turn.effects.map(({ key }) => key));
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D6: a sequential one between others → it waits for those before it, and those behind it wait for it', async () => {
    const { turnId } = await submit('mixed');
    const turn = await engine.settled(turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'Five.', usage: { effects: 5 } });
    const events = await order(turn.workflowId);
    expect([events.slice(0, 4).sort(), events.slice(4, 6), events.slice(6).sort()]).toEqual([['+0', '+1', '-0', '-1'], ['+2', '-2'], ['+3', '+4', '-3', '-4']]);
    expect(model.violations).toEqual([]);
  });
});
