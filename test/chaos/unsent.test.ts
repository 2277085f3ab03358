import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { freePort, waitFor } from '../support/wait.js';
import { chaosToml, obedient } from './kinds.js';

let model: FakeModel;
let engine: Engine;
let booking: Booking;
let latePort: number;
let late: Server | undefined;

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  booking = await startBooking();
  const [port, noPort] = [await freePort(), await freePort()];
  latePort = port;
  engine = await startEngine(chaosToml(model.url, {
    busy: { kind: 'keys_only', url: booking.url },
    late: { kind: 'neither', url: `http://127.0.0.1:${port}` },
    away: { kind: 'neither', url: `http://127.0.0.1:${noPort}` },
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await booking?.stop();
  late?.close();
  await model?.close();
});

it.concurrent('D10, D35: a target that refuses connections is tried a bounded number of times, then the effect is failed and the model is told why', async () => {
  const turn = await engine.send('use away');
  expect(turn).toMatchObject({ status: 'completed', effects: [{ state: 'failed' }], text: expect.stringMatching(/It was given up after 5 tries, of which none had an effect\. The last one: .*ECONNREFUSED/) });
  const entry = await engine.client.ledgerEntry(turn.effects[0]!.key);
  expect(entry.attempts.map((attempt) => attempt.outcome)).toEqual(Array(5).fill('not_sent'));
  expect(entry.evidence).toEqual([]);
  expect(model.violations).toEqual([]);
});

it.concurrent('D10, D35: a target that starts late gets exactly one request, also where nothing could be looked up', async () => {
  const { turnId } = await engine.client.submit({ agent: 'main', text: 'use late', as: 'tester' });
  await waitFor(async () => (await engine.client.turn(turnId)).effects[0] !== undefined && (await attemptsOf(turnId))[0] === 'not_sent', { what: 'a refused connection' });
  let requests = 0;
  late = createServer((_, response) => {
    requests += 1;
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"L-1"}');
  });
  late.listen(latePort, '127.0.0.1');
  await once(late, 'listening');
  const turn = await engine.until(turnId, 'completed');
  expect(turn.effects[0]).toMatchObject({ state: 'succeeded', externalId: 'L-1' });
  expect(requests).toBe(1);
  const attempts = await attemptsOf(turnId);
  expect([new Set(attempts.slice(0, -1)), attempts.at(-1)]).toEqual([new Set(['not_sent']), 'succeeded']);
  expect(model.violations).toEqual([]);
});

it.concurrent('D10, D35: 429 is unknown, and the same key is not sent again before the time that Retry-After asks for', async () => {
  await booking.setFaults({ failNext: { count: 1, status: 429, headers: { 'retry-after': '2' } } });
  const turn = await engine.send('use busy');
  expect(turn).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
  expect((await booking.posts())[turn.effects[0]!.key]).toBe(2);
  const { events } = await engine.temporal.workflow.getHandle(turn.workflowId).fetchHistory();
  const timers = (events ?? []).flatMap((event) => event.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? []);
  expect(timers.map(Number), 'a durable wait of two seconds').toContain(2);
  expect(model.violations).toEqual([]);
});

async function attemptsOf(turnId: string): Promise<string[]> {
  const [entry] = await engine.client.ledger({ turnId, kind: 'effect' });
  return entry?.attempts.map((attempt) => attempt.outcome) ?? [];
}
