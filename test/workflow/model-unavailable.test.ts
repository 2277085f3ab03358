import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply } from '../../testing/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { sequences, type Sequence } from '../support/sequences.js';
import { lastUser, messagesOf, problemsOf } from '../support/thread.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

/** Tries of one model call, see `repeatable` in workflows/activities.ts. */
const TRIES = 5;

const status = (code: number, headers?: Record<string, string>): ScriptedReply => ({ status: code, text: `no: ${code}`, ...(headers === undefined ? {} : { headers }) });
const better: ScriptedReply = { text: 'There it is.' };

/** Failures that pass: the same step is tried again, and the turn never knows. `agent`: `hasty` waits for a model only two seconds. */
const PASSING: Record<string, { replies: ScriptedReply[]; agent?: string }> = {
  'a 429 with Retry-After': { replies: [status(429, { 'retry-after': '2' }), better] },
  'a 429 without it': { replies: [status(429), better] },
  'a 503 with an unreadable Retry-After': { replies: [status(503, { 'retry-after': 'soon' }), better] },
  'a 500 twice': { replies: [status(500), status(500), better] },
  'a 408': { replies: [status(408), better] },
  'a success that is not JSON': { replies: [{ body: '<html>' }, better] },
  'a success without an answer': { replies: [{ body: { choices: [] } }, better] },
  'no answer in time': { replies: [{ hang: true }, better], agent: 'hasty' },
};

/** Failures that do not pass, how often the model is asked, and what the reason says. */
const LASTING: Record<string, { reply: ScriptedReply; times: number; says: string; agent?: string }> = {
  'a 500': { reply: status(500), times: TRIES, says: 'the model provider answered 500' },
  'a 429 without Retry-After': { reply: status(429), times: TRIES, says: 'the model provider answered 429' },
  'a success that is not JSON': { reply: { body: 'nonsense' }, times: TRIES, says: 'unreadable reply with status 200' },
  'no answer in time': { reply: { hang: true }, times: TRIES, says: 'model "hasty" did not answer within 2000 ms', agent: 'hasty' },
  'a 400': { reply: status(400), times: 1, says: 'the model provider answered 400' },
  'a 401': { reply: status(401), times: 1, says: 'the model provider answered 401' },
  'a 402': { reply: status(402), times: 1, says: 'the model provider answered 402' },
  'a 403': { reply: status(403), times: 1, says: 'the model provider answered 403' },
  'a 404': { reply: status(404), times: 1, says: 'the model provider answered 404' },
  'a 413': { reply: status(413), times: 1, says: 'the model provider answered 413' },
  'a redirect': { reply: status(307, { location: '/v1/elsewhere' }), times: 1, says: 'the model provider answered 307' },
};

let model: FakeModel;
let engine: Engine;

const numbered = <T>(all: Record<string, T>, prefix: string) => Object.entries(all).map(([what, row], n) => ({ ...row, what, play: `${prefix}${n}` }));
const passing = numbered(PASSING, 'passing');
const lasting = numbered(LASTING, 'lasting');

beforeAll(async () => {
  model = await startFakeModel();
  engine = await startEngine(testToml({
    modelUrl: model.url,
    more: `
[models.hasty]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
timeout = "2s"
[models.secret]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
api_key_env = "HOLDFAST_TEST_NO_SUCH_KEY"
[agents.hasty]
instructions = "You are hasty."
model = "hasty"
[agents.secret]
instructions = "You have no key."
model = "secret"
`,
  }));
  model.script(sequences({
    ...Object.fromEntries([...passing.map(({ play, replies }): [string, Sequence] => [play, replies]), ...lasting.map(({ play, reply }): [string, Sequence] => [play, reply])]),
    patience: status(429, { 'retry-after': '86400' }),
  }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const asked = (text: string) => model.requests.filter(({ body }) => lastUser(body) === text);

/** What the ledger says of each try of the turn's model calls, in order. */
async function triesOf(turnId: string): Promise<{ outcome: string; note: string | null }[]> {
  const { rows } = await engine.pool.query<{ outcome: string; note: string | null }>(
    `select p.outcome, p.note from holdfast.physical_call p join holdfast.ledger_entry e using (key) where e.turn_id = $1 and e.kind = 'model' order by p.started_at`, [turnId],
  );
  return rows;
}

describe('a model that fails', () => {
  it.concurrent.each(passing)('D12, D35: $what, then an answer → the step is tried again and the turn completes', async ({ play, replies, agent = 'main' }) => {
    const turn = await engine.send(`${play} go`, { agent });
    expect(turn).toMatchObject({ status: 'completed', text: 'There it is.', steps: 1, usage: { modelCalls: 1 } });
    const requests = asked(`${play} go`);
    expect(requests).toHaveLength(replies.length);
    for (const request of requests) expect(request.body).toEqual(requests[0]!.body);
    expect((await triesOf(turn.turnId)).map(({ outcome }) => outcome)).toEqual(replies.map((_, n) => (n === replies.length - 1 ? 'succeeded' : 'rejected')));
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D35: Retry-After of two seconds → no second try before them', async () => {
    const { play } = passing.find(({ what }) => what === 'a 429 with Retry-After')!;
    const [first, second] = await waitFor(() => { const all = asked(`${play} go`); return all.length === 2 && all; }, { what: 'two tries' });
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1990);
  });

  it.concurrent.each(lasting)('D35: $what, always → $times tries, the turn fails by name, and the thread goes on', async ({ play, times, says, agent = 'main' }) => {
    const thread = uniqueName('down');
    const turn = await engine.send(`${play} go`, { thread, agent });
    expect(turn).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^model_unavailable: /), effects: [] });
    expect(turn.reason).toContain(says);
    expect(turn.text).toContain('Nothing was changed outside.');
    expect(asked(`${play} go`)).toHaveLength(times);
    expect(await triesOf(turn.turnId)).toEqual(Array.from({ length: times }, () => ({ outcome: 'rejected', note: expect.stringContaining(says) })));
    expect(await engine.send('and now?', { thread, agent })).toMatchObject({ status: 'completed', text: 'ok' });
    if (agent === 'main') expect(problemsOf(await messagesOf(engine, thread))).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  it.concurrent('D35: its key is not set → one try, nothing leaves, and the reason names the variable', async () => {
    const turn = await engine.send('secret go', { agent: 'secret' });
    expect(turn).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^model_unavailable: .*HOLDFAST_TEST_NO_SUCH_KEY/) });
    expect(asked('secret go')).toEqual([]);
    expect(await triesOf(turn.turnId)).toEqual([{ outcome: 'rejected', note: expect.stringContaining('HOLDFAST_TEST_NO_SUCH_KEY') }]);
  });

  it.concurrent('D27, D35: Retry-After of a day → the wait is five minutes at most and visible, and a cancel ends it at once', async () => {
    const thread = uniqueName('patience');
    const { turnId } = await engine.client.submit({ agent: 'main', threadId: thread, text: 'patience go', as: 'tester' });
    const { workflowId } = await engine.client.turn(turnId);
    const waiting = await waitFor(async () => {
      const { raw } = await engine.temporal.workflow.getHandle(workflowId).describe();
      return raw.pendingActivities?.find(({ activityType, attempt }) => activityType?.name === 'callModel' && attempt === 2);
    }, { what: 'the wait before the second try' });
    expect(Number(waiting.currentRetryInterval?.seconds)).toBe(300);
    expect(waiting.lastFailure?.message).toContain('429');
    await engine.client.cancel(turnId, { as: 'tester' });
    expect(await engine.settled(turnId)).toMatchObject({ status: 'cancelled' });
    expect(asked('patience go')).toHaveLength(1);
  });
});
