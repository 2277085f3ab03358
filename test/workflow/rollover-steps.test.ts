import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Temporal } from '../../dev/temporal/start.js';
import type { ChatRequest, ScriptedReply } from '../../testing/index.js';
import { startBooking, type Booking } from '../support/booking.js';
import { clerkToml } from '../support/clerk-toml.js';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { chainOf, endedOrder, startShortRuns, SUGGEST_AFTER } from '../support/short-runs.js';
import { acceptedIn, lastUser, timesAsked } from '../support/thread.js';
import { waitFor } from '../support/wait.js';

const STEPS = 40;
const THREADS = 6;
const WAVES = 5;

let temporal: Temporal;
let model: FakeModel;
let booking: Booking;
let engine: Engine;
let worker: TestWorker;

beforeAll(async () => {
  [temporal, model, booking] = await Promise.all([startShortRuns(), startFakeModel(), startBooking()]);
  model.script(reply);
  engine = await startEngine(clerkToml(model.url, booking.url), { TEMPORAL_ADDRESS: temporal.address });
  worker = await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close(), temporal?.stop()]);
});

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 11, 1);

/** Steps are numbered by the day that they reserve. */
const call = (name: string, day: number): ScriptedReply => ({ calls: [{ name, args: { date: new Date(FIRST_DAY + day * DAY_MS).toISOString().slice(0, 10), people: 4 } }] });
const dayOf = (args: unknown): number => (Date.parse((args as { date: string }).date) - FIRST_DAY) / DAY_MS;

/** Threads whose worker is killed while half of the steps are done and the next effect has happened, but not answered. */
const struck = new Set<string>();

/** `steps …`: one effect after the other, `ask …`: one that needs approval; anything else is answered. */
async function reply(request: ChatRequest): Promise<ScriptedReply> {
  const text = lastUser(request);
  const last = request.messages.at(-1);
  if (text.startsWith('ask ') && last?.role === 'user') return call('approved', 4);
  if (!text.startsWith('steps ')) return { text: `re ${text}` };
  const calls = request.messages.flatMap((message) => message.tool_calls ?? []);
  const made = Math.max(0, ...calls.map((made) => dayOf(JSON.parse(made.function.arguments))));
  if (made === STEPS / 2 && struck.has(text)) await booking.hold('after');
  return made < STEPS ? call('plain', made + 1) : { text: 'done' };
}

const submit = (threadId: string, text: string) => engine.client.submit({ agent: 'clerk', threadId, requestId: text, text, as: 'tester' });

describe('a turn of many steps', () => {
  it.each([{ how: 'undisturbed', kill: false }, { how: 'with its worker killed half-way', kill: true }])('D1, D8, case 46: it continues as new between its steps, $how, and runs no step twice', async ({ kill }) => {
    const thread = uniqueName('steps');
    if (kill) struck.add(`steps ${thread}`);
    const { turnId } = await submit(thread, `steps ${thread}`);
    if (kill) {
      await waitFor(async () => (await booking.held()) === 1, { what: 'the held effect' });
      await worker.stop();
      await booking.release();
      worker = await engine.worker();
    }
    const turn = await engine.settled(turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'done', steps: STEPS + 1, usage: { modelCalls: STEPS + 1, effects: STEPS } });
    expect(timesAsked(model.requests, `steps ${thread}`)).toBe(STEPS + 1);
    const posts = Object.entries(await booking.posts()).filter(([key]) => key.startsWith(`${turnId}.`));
    expect(posts.map(([, times]) => times)).toEqual(Array.from({ length: STEPS }, () => 1));
    expect(turn.effects.map(({ args, state, outcome }) => [dayOf(args), outcome ?? state])).toEqual(Array.from({ length: STEPS }, (_, index) => [index + 1, 'succeeded']));
    const chain = await chainOf(engine, turn.workflowId);
    expect(chain.length).toBeGreaterThan(5);
    expect(Math.max(...chain.map((events) => events.length))).toBeLessThan(2 * SUGGEST_AFTER);
    expect(model.violations).toEqual([]);
  });
});

describe('inputs and decisions that arrive as runs continue as new', () => {
  it('D1, D3, case 18: none is lost, refused or run twice, and the order of acceptance holds over all runs', async () => {
    await Promise.all(Array.from({ length: THREADS }, async (_, number) => {
      const thread = uniqueName('wave');
      const { turnId } = await submit(thread, `ask ${thread}`);
      const { workflowId, approvals: [approval] } = await engine.until(turnId, 'waiting_approval');
      const texts: string[][] = Array.from({ length: WAVES }, (_, wave) => Array.from({ length: 5 }, (_, place) => `item ${wave}.${place} ${thread}`));
      const told = [];
      for (const [wave, items] of texts.entries()) {
        const decided = wave !== number % WAVES ? [] : [engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })];
        // Every input twice: a sender that got no answer sends it again.
        told.push(...(await Promise.all([...items, ...items].map((text) => submit(thread, text)))));
        expect((await Promise.all(decided)).map(({ result }) => result)).toEqual(decided.map(() => 'approved'));
      }
      const items = [...new Set(told.map((input) => input.turnId))];
      for (const item of items) expect(await engine.settled(item)).toMatchObject({ status: 'completed' });
      for (const text of texts.flat()) expect(timesAsked(model.requests, text), text).toBe(1);
      expect((await booking.posts())[`${turnId}.1.0`]).toBe(1);
      const chain = await chainOf(engine, workflowId);
      expect(chain.length).toBeGreaterThan(1);
      const accepted = chain.flatMap(acceptedIn).filter((id) => id === turnId || items.includes(id));
      expect(await endedOrder(engine, thread)).toEqual([...new Set(accepted)]);
    }));
    expect(model.violations).toEqual([]);
  });
});
