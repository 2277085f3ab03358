import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Temporal } from '../../dev/temporal/start.js';
import type { ScriptedReply } from '../../testing/index.js';
import { startBooking, type Booking } from '../support/booking.js';
import { clerkToml } from '../support/clerk-toml.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays, requestAbout, said } from '../support/plays.js';
import { chainOf, endedOrder, rollOver, startShortRuns, SUGGEST_AFTER } from '../support/short-runs.js';
import { waitFor } from '../support/wait.js';

const TABLE = { date: '2026-12-24', people: 4 };
const calls = (...names: string[]): ScriptedReply => ({ calls: names.map((name) => ({ name, args: name === 'ask_user' ? { question: 'When?' } : TABLE })) });

/** Every kind of wait, alone and all at once: what the model calls, and how the turn then stands. */
const WAITS = [
  { wait: 'approval', asks: ['approved'], status: 'waiting_approval' },
  { wait: 'question', asks: ['ask_user'], status: 'waiting_input' },
  { wait: 'unknown', asks: ['lost'], status: 'waiting_unknown' },
  { wait: 'everything', asks: ['approved', 'ask_user', 'lost', 'approved'], status: 'waiting_approval' },
] as const;

let temporal: Temporal;
let model: FakeModel;
let booking: Booking;
let lost: Booking;
let engine: Engine;
/** Plays whose first reply may be given, so that inputs can come before it. */
const opened = new Set<string>();

beforeAll(async () => {
  [temporal, model, booking, lost] = await Promise.all([startShortRuns(), startFakeModel(), startBooking(), startBooking({ mode: 'none' })]);
  await lost.setFaults({ dropNext: { count: 1000, when: 'after' } });
  model.script(plays({
    ...Object.fromEntries(WAITS.map(({ wait, asks }) => [wait, [() => waitFor(() => opened.has(wait), { what: 'the inputs' }).then(() => calls(...asks))]])),
    brief: [calls('brief')],
  }));
  engine = await startEngine(clerkToml(model.url, booking.url, lost.url), { TEMPORAL_ADDRESS: temporal.address });
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), lost?.stop(), model?.close(), temporal?.stop()]);
});

const submit = (threadId: string, text: string, mode: 'queue' | 'steer' = 'queue') => engine.client.submit({ agent: 'clerk', threadId, requestId: text, text, as: 'tester', mode });
const stateOf = (workflowId: string) => handleOf(workflowId).query<{ running: { status: string }; queued: string[] }>('state');
const handleOf = (workflowId: string) => engine.temporal.workflow.getHandle(workflowId);

describe('a run that has become long while its turn waits', () => {
  it.each(WAITS)('D1, I11, case 46: waiting for $wait: it continues as new twice with what waits, the queue and a steered input kept; each acts once afterwards', async ({ wait, asks, status }) => {
    const thread = uniqueName('roll');
    const { turnId } = await submit(thread, `${wait} ${thread}`);
    await waitFor(() => requestAbout(model.requests, `${wait} ${thread}`), { what: 'the model call' });
    const queued = [];
    for (const n of [1, 2, 3]) queued.push((await submit(thread, `item ${n} ${thread}`)).turnId);
    const { turnId: steered } = await submit(thread, `also ${thread}`, 'steer');
    opened.add(wait);
    // A reply with several calls waits for all of them.
    const settled = await waitFor(async () => {
      const turn = await engine.client.turn(turnId);
      const open = turn.effects.filter(({ state }) => state === 'unknown').length + turn.approvals.filter(({ state }) => state === 'pending').length;
      return turn.status === status && open === asks.filter((name) => name !== 'ask_user').length && turn;
    }, { what: 'every wait' });
    const pending = await handleOf(settled.workflowId).query('pendingApprovals');
    for (let times = 0; times < 2; times += 1) await rollOver(engine, settled.workflowId);
    // The new run first looks at an unknown effect again.
    await waitFor(async () => (await stateOf(settled.workflowId)).running.status === status, { what: 'the new run to wait' });
    expect(await stateOf(settled.workflowId)).toMatchObject({ running: { turnId, status, step: 1 }, queued });
    expect(await handleOf(settled.workflowId).query('pendingApprovals')).toEqual(pending);
    // Of several waits, either run names the one that it met first.
    expect(await engine.client.turn(turnId)).toEqual({ ...settled, reason: asks.length === 1 ? settled.reason : expect.stringContaining(turnId) });

    if (asks.some((name) => name === 'ask_user')) expect((await submit(thread, `Friday ${thread}`)).intoTurnId).toBe(turnId);
    for (const { id, hash } of settled.approvals) {
      const answers = await Promise.all([1, 2].map(() => engine.client.decide(id, { hash, decision: 'approve', as: 'kim' })));
      expect(answers.map(({ result }) => result)).toEqual(['approved', 'approved']);
    }
    for (const { key } of settled.effects.filter(({ state }) => state === 'unknown')) {
      const { version } = await engine.client.ledgerEntry(key);
      expect(await engine.client.settle(key, { version, outcome: 'succeeded', externalId: 'R-seen', reason: 'asked', as: 'op' })).toMatchObject({ result: 'settled' });
    }
    const end = await engine.until(turnId, 'completed');
    expect(end).toMatchObject({ text: 'ok', usage: { modelCalls: 2 }, steps: 2 });
    await engine.settled(queued[2]!);
    expect(await endedOrder(engine, thread)).toEqual([turnId, ...queued]);
    expect((await engine.client.turn(steered)).status).toBe('completed');
    expect(said(requestAbout(model.requests, `also ${thread}`), 'user')).toContain(`also ${thread}`);
    const posts = { ...(await booking.posts()), ...(await lost.posts()) };
    expect(end.effects.filter(({ effect }) => effect === 'approved').map(({ key }) => posts[key])).toEqual(asks.filter((name) => name === 'approved').map(() => 1));
    expect((await handleOf(settled.workflowId).describe()).memo).toEqual({ agent: 'clerk', threadId: thread });
    const chain = await chainOf(engine, settled.workflowId);
    expect(chain.length).toBeGreaterThanOrEqual(3);
    expect(Math.max(...chain.map((events) => events.length))).toBeLessThan(2 * SUGGEST_AFTER);
    expect(model.violations).toEqual([]);
  });

  it('D1, D24: the deadline of an approval stays the one that was shown, and then nothing is done', async () => {
    const thread = uniqueName('brief');
    const { turnId } = await submit(thread, `brief ${thread}`);
    const { workflowId } = await engine.until(turnId, 'waiting_approval');
    const [before] = await handleOf(workflowId).query<{ expiresAt: number }[]>('pendingApprovals');
    await rollOver(engine, workflowId);
    expect(await handleOf(workflowId).query('pendingApprovals')).toEqual([before]);
    const end = await engine.until(turnId, 'completed');
    expect(end).toMatchObject({ text: 'ok', approvals: [{ state: 'expired' }], effects: [{ state: 'cancelled' }] });
    const { id, hash } = end.approvals[0]!;
    expect(await engine.client.decide(id, { hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'refused', code: 'expired' });
    const dues = (await chainOf(engine, workflowId)).map(firstTimerDue);
    expect(dues.length).toBeGreaterThanOrEqual(2);
    for (const due of dues) expect(Math.abs(due - before!.expiresAt)).toBeLessThan(5);
    expect(Object.keys(await booking.posts()).filter((key) => key.startsWith(turnId))).toEqual([]);
    expect(model.violations).toEqual([]);
  });
});

/** When the first long timer of a run goes off, by the workflow's own clock (the start of the task that set it). */
function firstTimerDue(events: Awaited<ReturnType<typeof chainOf>>[number]): number {
  const timer = events.map((event) => event.timerStartedEventAttributes).find((attributes) => attributes !== null && attributes !== undefined);
  const completed = events.find(({ eventId }) => String(eventId) === String(timer?.workflowTaskCompletedEventId));
  const started = events.find(({ eventId }) => String(eventId) === String(completed?.workflowTaskCompletedEventAttributes?.startedEventId));
  return millis(started?.eventTime) + millis(timer?.startToFireTimeout);
}

function millis(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}
