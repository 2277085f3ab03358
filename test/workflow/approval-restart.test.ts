import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PendingApproval } from '../../contracts/steps.js';
import type { TurnView } from '../../contracts/turn.js';
import { conversationHandle, deskToml, only, refused, startRig, type Rig } from '../support/approval-rig.js';
import { refusalsOf } from '../support/by-hand.js';
import type { TestWorker } from '../support/engine.js';
import { uniqueName } from '../support/names.js';
import { eventsOf } from '../support/thread.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
let worker: TestWorker;
const TABLE = { date: '2026-12-24', people: 10 };
const GREEDY = { date: '2026-12-24', people: 9000 };

beforeAll(async () => {
  rig = await startRig();
  worker = await rig.engine.worker();
});
afterAll(() => rig?.close());

async function configure(toml: string): Promise<void> {
  await writeFile(rig.engine.env['CONFIG'] ?? '', toml);
}

/** Kills the only worker, and starts a new one with cold caches after `meanwhile`. */
async function restart(meanwhile: () => Promise<unknown>): Promise<void> {
  await worker.stop();
  await meanwhile();
  worker = await rig.engine.worker();
}

/** What the external system holds under the key of a proposal. */
async function reservations(key: string): Promise<{ people: number }[]> {
  return (await (await fetch(`${rig.booking.url}/reservations?key=${key}`)).json()) as { people: number }[];
}

const original = () => deskToml(rig.model.url, rig.booking.url);
const pending = (turn: TurnView) => conversationHandle(rig.engine, turn).query<PendingApproval[]>('pendingApprovals');

describe('all workers are gone while a proposal waits', () => {
  it.each([
    ['the same configuration', () => original(), 'You are the desk.'],
    ['changed instructions and tool descriptions', () => deskToml(rig.model.url, rig.booking.url, 'You are the new desk.'), 'You are the new desk.'],
    ['a changed policy and target', () => original().replace('[effects.reserve.approval]', '[effects.reserve.approval]\napprovers = 2').replace('/reservations"\nresult_id', '/nowhere"\nresult_id'), 'You are the desk.'],
    ['the effect taken away from the agent', () => original().replace('"reserve",', ''), 'You are the desk.'],
  ])('D21, D34, case 03, case 25: and come back with %s; the proposal is found, approved by its old hash, and exactly its arguments run once', async (_what, toml, now) => {
    await configure(original());
    await restart(async () => undefined);
    const earlier = rig.model.requests.length;
    const turn = await rig.ask({ asks: [{ args: TABLE }], again: [{ args: GREEDY }] });
    const before = await pending(turn);
    await restart(() => configure(toml()));

    const [found, ...others] = await rig.engine.client.approvals({ threadId: turn.threadId });
    expect(found).toEqual(only(turn));
    expect(others).toEqual([]);
    expect(await pending(turn)).toEqual(before);
    expect(await rig.decide(only(turn), 'approve')).toMatchObject({ result: 'approved', version: 1, hash: only(turn).hash });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end.effects).toMatchObject([{ state: 'succeeded', args: TABLE }]);
    expect(await rig.done(turn)).toHaveLength(1);
    expect(await reservations(only(turn).key)).toMatchObject([{ people: 10 }]);

    expect(rig.model.requests.slice(earlier).map(({ body }) => [body.messages[0]?.content, body.messages.at(-1)?.role])).toEqual([
      [expect.stringContaining('You are the desk.'), 'user'], [expect.stringContaining('You are the desk.'), 'tool'],
    ]);
    await rig.engine.send('hello', { agent: 'desk', thread: uniqueName('thread') });
    expect(rig.model.requests.at(-1)?.body.messages[0]?.content).toContain(now);
    expect(rig.model.violations).toEqual([]);
  });

  it('D24, case 26: and its deadline passes: it is expired when one is back, also for decisions that were sent meanwhile; the clock is not restarted', async () => {
    const [turn, lasting] = await Promise.all([rig.ask({ asks: [{ effect: 'quick', args: TABLE }] }), rig.ask({ asks: [{ effect: 'pair', args: TABLE }] })]);
    const { id, hash, expiresAt } = only(turn);
    await restart(async () => {
      const approve = () => conversationHandle(rig.engine, turn).signal('decide', { approvalId: id, hash, decision: 'approve', as: 'kim' });
      await approve();
      await waitFor(() => Date.now() > Date.parse(expiresAt), { what: 'the deadline' });
      await approve();
      expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ state: 'pending', expiresAt });
    });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(only(end)).toMatchObject({ state: 'expired', expiresAt, decisions: [] });
    expect(end).toMatchObject({ effects: [{ state: 'cancelled' }], text: expect.stringMatching(/"status":"expired".*not done/) });
    const refusal = { kind: 'decide', message: expect.stringMatching(/^expired: /) };
    await waitFor(async () => (await refusalsOf(rig.engine, turn.workflowId)).length === 2, { what: 'the refusals' });
    expect(await refusalsOf(rig.engine, turn.workflowId)).toEqual([refusal, refusal]);
    expect(await rig.decide({ id, hash }, 'approve')).toMatchObject(refused('expired'));
    expect(await rig.done(turn)).toEqual([]);
    expect(await rig.engine.client.approval(only(lasting).id)).toEqual(only(lasting));
    expect(await pending(lasting)).toMatchObject([{ expiresAt: Date.parse(only(lasting).expiresAt) }]);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('the clock of a deadline', () => {
  it('D24: is the database\'s: a workflow whose own time is up before waits on, a decision in between counts, and the rest expires when the database says so', async () => {
    const [decided, silent] = await Promise.all([1, 2].map(() => rig.ask({ asks: [{ effect: 'quick', args: TABLE }] })));
    const postpone = (turn: TurnView, time: string) => rig.engine.pool.query('update holdfast.proposal set expires_at = now() + $2::interval where approval_id = $1', [only(turn).id, time]);
    await Promise.all([postpone(decided!, '1 hour'), postpone(silent!, '6 seconds')]);
    for (const turn of [decided!, silent!]) {
      const due = await waitFor(async () => {
        const timers = (await eventsOf(rig.engine, turn.workflowId)).flatMap((event) => event.timerStartedEventAttributes?.startToFireTimeout ?? []);
        return timers.length > 1 && timers;
      }, { what: 'the second timer' });
      expect(due).toHaveLength(2);
      expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ state: 'pending' });
    }
    expect(await rig.decide(only(decided!), 'approve')).toMatchObject({ result: 'approved' });
    expect((await rig.engine.until(decided!.turnId, 'completed')).effects).toMatchObject([{ state: 'succeeded' }]);
    expect(await rig.done(decided!)).toHaveLength(1);
    expect(only(await rig.engine.until(silent!.turnId, 'completed'))).toMatchObject({ state: 'expired' });
    expect(await rig.done(silent!)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('an approval whose turn fails afterwards', () => {
  it('D12, D22, D28, case 20: the effect happened once, the failed turn names it, the approval keeps its answer, and the next input builds on the stored result', async () => {
    const thread = uniqueName('thread');
    const turn = await rig.ask({ asks: [{ effect: 'strict', args: TABLE }], down: true }, { thread, as: 'ria' });
    const answer = await rig.decide(only(turn), 'approve');
    expect(answer).toMatchObject({ result: 'approved' });
    const end = await rig.engine.until(turn.turnId, 'failed');
    const [effect] = await rig.done(turn);
    expect(end).toMatchObject({ reason: expect.stringMatching(/^model_unavailable: /), effects: [{ state: 'succeeded', externalId: effect?.id }] });
    expect(end.text).toContain(`Already done and not undone: strict (${effect?.id})`);
    expect(await rig.decide(only(turn), 'approve')).toEqual(answer);
    await conversationHandle(rig.engine, turn).result();
    expect(await rig.decide(only(turn), 'approve')).toEqual(answer);

    expect((await rig.engine.send('and now?', { agent: 'desk', thread })).text).toBe('heard: and now?');
    const told = rig.model.requests.at(-1)?.body.messages ?? [];
    expect(told.filter(({ role }) => role === 'tool').map(({ content }) => String(content))).toEqual([expect.stringContaining(effect?.id ?? '-')]);
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });
});
