import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { lastUser, messagesOf, problemsOf, timesAsked } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let engine: Engine;
let worker: TestWorker;

beforeAll(async () => {
  model = await startFakeModel();
  engine = await startEngine(testToml({ modelUrl: model.url, main: 'ask_user = true' }));
  worker = await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const submit = (thread: string, text: string) => engine.client.submit({ agent: 'main', threadId: thread, requestId: text, text, as: 'tester' });
const ask = (...questions: string[]) => ({ calls: questions.map((question) => ({ name: 'ask_user', args: { question } })) });
const stateOf = (workflowId: string) => engine.temporal.workflow.getHandle(workflowId).query<{ running: { status: string; step: number } | null; queued: string[] }>('state');
const asked = (workflowId: string, step: number) => waitFor(async () => {
  const { running } = await stateOf(workflowId);
  return running?.status === 'waiting_input' && running.step === step;
}, { what: `question ${step}` });

async function question(thread: string) {
  const turn = await engine.send(`${thread} start`, { thread });
  expect(turn.status).toBe('waiting_input');
  return turn;
}

const results = async (thread: string) => (await messagesOf(engine, thread)).filter(({ body }) => body.role === 'tool').map(({ body }) => body.text);

describe('a turn that waits for input', () => {
  it.each([{ where: 'by the same worker', kill: false }, { where: 'after its worker was killed', kill: true }])('D4: goes on with the next input, $where, and repeats no finished step', async ({ kill }) => {
    const thread = uniqueName('ask');
    model.script([ask('When?'), { whenLastRole: 'tool', reply: { text: 'Done.' } }]);
    const { turnId } = await question(thread);
    if (kill) {
      await worker.stop();
      worker = await engine.worker();
    }
    const answer = await submit(thread, 'on Friday');
    expect(answer.intoTurnId).toBe(turnId);
    const turn = await engine.until(turnId, 'completed');
    expect(turn).toMatchObject({ text: 'Done.', usage: { modelCalls: 2 } });
    expect(await engine.settled(answer.turnId)).toEqual(turn);
    expect(await submit(thread, 'on Friday')).toMatchObject({ turnId: answer.turnId, intoTurnId: turnId, repeat: true });
    expect(await results(thread)).toEqual(['on Friday']);
    expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    expect(timesAsked(model.requests, `${thread} start`)).toBe(2);
    expect(model.violations).toEqual([]);
  });

  it('D4: an input that was queued before the question is not taken as its answer', async () => {
    const thread = uniqueName('before');
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => { open = resolve; });
    model.script(async (request, n) => {
      if (n === 1) await gate;
      return n === 1 ? ask('When?') : { text: `re ${lastUser(request)}` };
    });
    const start = await submit(thread, `${thread} start`);
    const queued = await submit(thread, `${thread} queued`);
    open();
    const { workflowId } = await engine.until(start.turnId, 'waiting_input');
    expect((await stateOf(workflowId)).queued).toEqual([queued.turnId]);
    expect((await submit(thread, `${thread} answer`)).intoTurnId).toBe(start.turnId);
    expect(await engine.settled(queued.turnId)).toMatchObject({ turnId: queued.turnId, status: 'completed', text: `re ${thread} queued` });
    expect(await results(thread)).toEqual([`${thread} answer`]);
    expect(model.violations).toEqual([]);
  });

  it('D3, D4: five inputs at once answer one question once; the others are turns of their own, and none answers a later question', async () => {
    const thread = uniqueName('five');
    model.script((request) => {
      const tools = request.messages.filter(({ role }) => role === 'tool').length;
      return lastUser(request) === `${thread} start` && tools < 2 ? ask(`Question ${tools + 1}?`) : { text: `re ${lastUser(request)}` };
    });
    const { turnId, workflowId } = await question(thread);
    const told = await Promise.all([1, 2, 3, 4, 5].map((n) => submit(thread, `${thread} ${n}`)));
    await asked(workflowId, 2);
    const answers = told.filter(({ intoTurnId }) => intoTurnId === turnId);
    expect(answers).toHaveLength(1);
    expect((await stateOf(workflowId)).queued).toHaveLength(4);
    await submit(thread, `${thread} second answer`);
    const own = told.filter((one) => one !== answers[0]);
    for (const one of own) expect(await engine.settled(one.turnId)).toMatchObject({ turnId: one.turnId, status: 'completed', text: `re ${one.requestId}` });
    expect(await results(thread)).toEqual([answers[0]?.requestId, `${thread} second answer`]);
    expect(model.violations).toEqual([]);
  });

  it('D4, D6: two questions in one reply wait for two answers', async () => {
    const thread = uniqueName('two');
    model.script([ask('When?', 'Who?'), { whenLastRole: 'tool', reply: { text: 'Done.' } }]);
    const { turnId, workflowId } = await question(thread);
    await submit(thread, 'Friday');
    const answered = async () => (await engine.pool.query(`select from holdfast.ledger_entry where turn_id = $1 and kind = 'input' and state = 'succeeded'`, [turnId])).rowCount;
    await waitFor(async () => (await answered()) === 1, { what: 'the first answer' });
    expect((await stateOf(workflowId)).running?.status).toBe('waiting_input');
    await submit(thread, 'Ann');
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: 'Done.', usage: { modelCalls: 2 } });
    expect(await results(thread)).toEqual(['Friday', 'Ann']);
    expect(model.violations).toEqual([]);
  });

  it('D2, D4: an answer that is sent again by hand is no answer to the next question', async () => {
    const thread = uniqueName('repeat');
    model.script([ask('When?'), ask('Who?'), { whenLastRole: 'tool', reply: { text: 'Done.' } }]);
    const { turnId, workflowId } = await question(thread);
    const handle = engine.temporal.workflow.getHandle(workflowId);
    const answer = await submit(thread, 'Friday');
    await asked(workflowId, 2);
    await handle.signal('input', { requestId: 'Friday', text: 'Friday' });
    await handle.executeUpdate('submitInput', { args: [{ turnId: answer.turnId, mode: 'queue' }], updateId: 'by hand' });
    await submit(thread, 'Ann');
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: 'Done.' });
    expect(await results(thread)).toEqual(['Friday', 'Ann']);
    expect(model.violations).toEqual([]);
  });
});
