import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Submitted } from '../../client/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { submitFromProcesses } from '../support/senders.js';
import { acceptedOrder, eventsOf, lastUser, messagesOf, problemsOf, timesAsked } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  engine = await startEngine(testToml({ modelUrl: model.url }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const submit = (thread: string, requestId: string, text: string) => engine.client.submit({ agent: 'main', threadId: thread, requestId, text, as: 'tester' });

describe('inputs at once', () => {
  it('D3, case 16: ten inputs from two processes at once are each stored and answered once, in the order of acceptance', async () => {
    model.script((request) => ({ text: `re ${lastUser(request)}`, delayMs: 20 }));
    const thread = uniqueName('many');
    const lists = ['a', 'b'].map((who) => Array.from({ length: 5 }, (_, n): [string, string] => [`${who}${n}`, `${thread} ${who}${n}`]));
    const told = (await submitFromProcesses(engine.env, thread, lists)) as Submitted[];
    expect(new Set(told.map(({ turnId }) => turnId)).size).toBe(10);
    const turns = await Promise.all(told.map(({ turnId }) => engine.settled(turnId)));
    for (const turn of turns) expect(turn).toMatchObject({ status: 'completed', text: `re ${thread} ${turn.requestId}`, usage: { modelCalls: 1 } });

    const stored = await messagesOf(engine, thread);
    expect(problemsOf(stored)).toEqual([]);
    expect(stored).toHaveLength(20);
    expect(stored.filter((_, index) => index % 2 === 0).map(({ turnId }) => turnId)).toEqual(await acceptedOrder(engine, turns[0]!.workflowId));
    expect(model.violations).toEqual([]);
  });

  it('D3, case 18: an input sent within 20 ms of a turn\'s end, 50 times, is never lost and never run twice', async () => {
    const answered = new Map<string, () => void>();
    model.script((request) => {
      setImmediate(() => answered.get(lastUser(request))?.());
      return { text: 'ok' };
    });
    await eachInParallel(50, 10, async (n) => {
      const thread = uniqueName('end');
      const modelAnswered = new Promise<void>((resolve) => answered.set(`${thread} first`, resolve));
      const first = submit(thread, 'first', `${thread} first`);
      await modelAnswered;
      // Spreads the second input over the time in which the first turn ends.
      await delay((n % 10) * 2);
      const second = await submit(thread, 'second', `${thread} second`);
      for (const { turnId } of [await first, second]) expect(await engine.settled(turnId)).toMatchObject({ status: 'completed', usage: { modelCalls: 1 } });
      for (const text of ['first', 'second']) expect(timesAsked(model.requests, `${thread} ${text}`)).toBe(1);
      expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    });
    expect(model.violations).toEqual([]);
  });

  it('D3, case 18: an input around the end of a run is processed, or refused and then accepted under the same request id', async () => {
    model.script((request) => ({ text: `re ${lastUser(request)}` }));
    await eachInParallel(20, 20, async (n) => {
      const thread = uniqueName('linger');
      const first = await engine.send(`${thread} first`, { thread });
      const lingering = await waitFor(async () => (await eventsOf(engine, first.workflowId)).findLast((event) => event.timerStartedEventAttributes?.startToFireTimeout), { what: 'the run to linger' });
      const { seconds, nanos } = lingering.timerStartedEventAttributes!.startToFireTimeout!;
      const startedAt = Number(lingering.eventTime?.seconds ?? 0) * 1000 + (lingering.eventTime?.nanos ?? 0) / 1e6;
      const endsAt = startedAt + Number(seconds) * 1000 + (nanos ?? 0) / 1e6;
      // Spreads the senders over 40 ms before to 55 ms after the timer that ends the run.
      await delay(endsAt - Date.now() - 40 + n * 5);
      const second = await submit(thread, 'second', `${thread} second`).catch(() => submit(thread, 'second', `${thread} second`));
      expect(await engine.settled(second.turnId)).toMatchObject({ status: 'completed', text: `re ${thread} second` });
      expect(timesAsked(model.requests, `${thread} second`)).toBe(1);
      expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    });
    expect(model.violations).toEqual([]);
  });

  it('D1, D3: a run ends by itself when nothing waits, and its last task carries its completion and nothing else', async () => {
    model.script((request) => ({ text: `re ${lastUser(request)}` }));
    const turn = await engine.send('only', { thread: uniqueName('last') });
    const events = await waitFor(async () => {
      const all = await eventsOf(engine, turn.workflowId);
      return all.at(-1)?.workflowExecutionCompletedEventAttributes && all;
    }, { what: 'the run to complete' });
    const lastTask = events.findLast((event) => event.workflowTaskCompletedEventAttributes);
    expect(events.slice(events.indexOf(lastTask!) + 1)).toHaveLength(1);
    expect(events.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
    expect(model.violations).toEqual([]);
  });
});

async function eachInParallel(count: number, atOnce: number, run: (n: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - start) }, (_, n) => run(start + n)));
  }
}
