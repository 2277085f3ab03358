import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { startFamily, type Family } from '../support/family-rig.js';
import { uniqueName } from '../support/names.js';
import { said } from '../support/plays.js';
import { waitFor } from '../support/wait.js';

let family: Family;

beforeAll(async () => {
  family = await startFamily();
  await family.engine.worker();
});

afterEach(() => family.booking.release());

afterAll(() => family?.close());

const send = (text: string, thread?: string): Promise<TurnView> => family.engine.send(text, thread === undefined ? {} : { thread });
const decide = ({ id, hash }: { id: string; hash: string }, decision: 'approve' | 'reject') => family.engine.client.decide(id, { hash, decision, as: 'boss' });
const roles = async (agent: string, thread: string): Promise<string[]> =>
  (await family.engine.pool.query<{ role: string }>(`select body ->> 'role' as role from holdfast.message where agent = $1 and thread_id = $2 order by seq`, [agent, thread])).rows.map(({ role }) => role);
/** What the child's model was asked with, for a request that begins so. */
const heard = (request: string, thread = '') => family.model.requests.filter(({ body }) => body.messages.some(({ role, content }) => role === 'user' && String(content).includes(request) && String(content).includes(thread)));
const status = async (turnId: string): Promise<string> => (await family.engine.client.turn(turnId)).status;

describe('a child of kind agent', () => {
  it.concurrent('D32: it causes an effect → turn, history, workflow and effect are its own, the parent gets its text as the result', async () => {
    const turn = await send('book');
    const [child, ...others] = await family.children(turn.turnId);
    expect(others).toEqual([]);
    expect(child).toMatchObject({ agent: 'desk', status: 'completed' });
    expect(turn.effects).toMatchObject([{ effect: 'reserve', state: 'succeeded' }]);
    expect(turn.effects[0]!.key.startsWith(`${child!.turnId}.`)).toBe(true);
    const [effect] = await family.done(turn);
    expect(turn).toMatchObject({ status: 'completed', text: expect.stringMatching(new RegExp(`^told: told: .*${effect!.id}`)) });
    expect(await roles('desk', child!.threadId)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(await roles('main', turn.threadId)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const { type } = await family.engine.temporal.workflow.getHandle(child!.workflowId).describe();
    expect(type).toBe('childAgent');
  });

  it.concurrent('D32: it is called again in the next turn of the conversation → a turn and a history of its own, nothing of the first', async () => {
    const thread = uniqueName('thread');
    const [first, second] = [await send('book', thread), await send('book', thread)];
    const [one, two] = [await family.children(first.turnId), await family.children(second.turnId)];
    expect(one[0]!.threadId).not.toBe(two[0]!.threadId);
    expect(await roles('desk', two[0]!.threadId)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(new Set([...first.effects, ...second.effects].map(({ externalId }) => externalId)).size).toBe(2);
  });

  it.concurrent.each([
    ['its model refuses', 'refuse', 'refus'], ['its provider does not let it in', 'down', '403'], ['it reaches `max_steps`', 'endless', 'max_steps'],
  ])('D32, D6: %s → the parent is told that it failed and why, and goes on', async (_, play, why) => {
    const turn = await send(play);
    expect(turn).toMatchObject({ status: 'completed' });
    expect(JSON.parse(turn.text!.replace('told: ', ''))).toMatchObject({ status: 'failed', message: expect.stringContaining(why) });
    expect((await family.children(turn.turnId)).map((child) => child.status)).toEqual(['failed']);
  });

  it.concurrent('D28, D32: it fails after effects that did happen → the parent is told of each by its id', async () => {
    const turn = await send('endless');
    const done = await family.done(turn);
    expect(done).toHaveLength(3);
    for (const { id } of done) expect(turn.text).toContain(id);
  });
});

describe('what a child agent sees', () => {
  it.concurrent.each([
    ['W2: `input = "conversation"` → the last `context_turns` turns and the request', 'resolve', 'Take that one', ['[earlier conversation]', 'second', 'third'], ['first']],
    ['W2: `input = "context"` → the request alone', 'narrow', 'Take this one', [], ['first', 'second', 'third', '[']],
  ])('%s', async (_, play, request, present, absent) => {
    const thread = uniqueName('thread');
    for (const text of ['first', 'second', 'third']) await send(`${text} of ${thread}`, thread);
    const turn = await send(play, thread);
    const [child] = await family.children(turn.turnId);
    const { rows: [stored] } = await family.engine.pool.query<{ text: string }>(`select input ->> 'text' as text from holdfast.turn where turn_id = $1`, [child!.turnId]);
    const users = said(heard(request, present.length > 0 ? thread : '')[0], 'user');
    expect(users).toEqual([stored!.text]);
    for (const word of present) expect(stored!.text).toContain(word);
    for (const word of absent) expect(stored!.text).not.toContain(word);
  });
});

describe('approvals of child agents', () => {
  it.concurrent.each([
    ['approved', 'approve', 1, 'confirmed'], ['rejected', 'reject', 0, 'rejected'],
  ] as const)('D26: the effect of a child is %s in the inbox of the root → it goes on and the parent hears the result', async (_, decision, effects, told) => {
    const { turnId, thread } = await family.begin('guard');
    const turn = await family.waiting(turnId);
    expect(turn.approvals).toMatchObject([{ turnId, threadId: thread, agent: 'main', effect: 'guarded', state: 'pending' }]);
    expect(await family.engine.client.approvals({ threadId: thread })).toHaveLength(1);
    expect(await family.done(turn)).toEqual([]);
    expect(await decide(turn.approvals[0]!, decision)).toMatchObject({ result: decision === 'approve' ? 'approved' : 'rejected' });
    const end = await family.engine.until(turnId, 'completed');
    expect(end.text).toContain(told);
    expect(await family.done(end)).toHaveLength(effects);
  });

  it.concurrent('D26, case 21: two children wait at once and are decided in the other order → each gets its own decision', async () => {
    const { turnId } = await family.begin('two');
    const { approvals } = await family.waiting(turnId, 2);
    expect(await decide(approvals[1]!, 'approve')).toMatchObject({ result: 'approved' });
    await waitFor(async () => (await family.children(turnId)).some((child) => child.status === 'completed'), { what: 'the end of the approved child' });
    expect(await status(turnId)).toBe('waiting_approval');
    expect(await decide(approvals[0]!, 'reject')).toMatchObject({ result: 'rejected' });
    const end = await family.engine.until(turnId, 'completed');
    expect((await family.done(end)).map(({ key }) => key)).toEqual([approvals[1]!.key]);
  });

  it.concurrent('D26, D32: a child of a child asks → the approval is in the inbox of the root, and the result comes up through both', async () => {
    const { turnId, thread } = await family.begin('nested');
    const turn = await family.waiting(turnId);
    expect(turn.approvals).toMatchObject([{ turnId, threadId: thread, agent: 'main' }]);
    expect((await family.children(turnId)).map(({ agent }) => agent)).toEqual(['lead', 'desk']);
    await decide(turn.approvals[0]!, 'approve');
    const end = await family.engine.until(turnId, 'completed');
    expect(end.text).toMatch(/^told: told: told: /);
    expect(await family.done(end)).toHaveLength(1);
  });

  it.concurrent('D24: the text of a child claims "approved" → the effect still waits for a person, and silence or no is not done', async () => {
    const { turnId } = await family.begin('claim');
    const turn = await family.waiting(turnId);
    expect(turn.approvals).toMatchObject([{ state: 'pending', decisions: [] }]);
    await decide(turn.approvals[0]!, 'reject');
    const end = await family.engine.until(turnId, 'completed');
    expect(await family.done(end)).toEqual([]);
  });

  it.concurrent.each(['guard', 'nested'])('D27, case 36: the root of `%s` is cancelled while the approval waits, then it is approved → refused, nothing runs, every turn is cancelled', async (play) => {
    const { turnId } = await family.begin(play);
    const { approvals } = await family.waiting(turnId);
    expect(await family.engine.client.cancel(turnId, { as: 'tester' })).toMatchObject({ result: 'cancelling' });
    expect(await decide(approvals[0]!, 'approve')).toMatchObject({ result: 'refused', code: 'turn_finished' });
    const end = await family.engine.settled(turnId);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'cancelled' }] });
    expect(await decide(approvals[0]!, 'approve')).toMatchObject({ result: 'refused', code: 'turn_finished' });
    expect(await family.done(end)).toEqual([]);
    expect(new Set((await family.children(turnId)).map((child) => child.status))).toEqual(new Set(['cancelled']));
  });
});

describe('cancel of the parent', () => {
  it.each([['a child', 'book', 1], ['a child of a child', 'deepBook', 2]] as const)('D27, D28: while the effect of %s is in flight → it is waited for, and the root tells it by its id', async (_, play, turns) => {
    await family.booking.hold('after');
    const { turnId, thread } = await family.begin(play);
    await waitFor(async () => (await family.booking.held()) === 1, { what: 'the effect in flight' });
    expect(await family.engine.client.cancel(turnId, { as: 'tester' })).toMatchObject({ result: 'cancelling' });
    expect(await status(turnId)).toBe('cancelling');
    await family.booking.release();
    const end = await family.engine.settled(turnId);
    const [effect] = await family.done(end);
    expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'succeeded', externalId: effect!.id }] });
    expect(end.text).toContain(`Already done and not undone: reserve (${effect!.id}).`);
    expect((await family.children(turnId)).map((child) => child.status)).toEqual(Array.from({ length: turns }, () => 'cancelled'));
    const words = `next of ${thread}`;
    await send(words, thread);
    expect(said(heard(words)[0], 'assistant').at(-1)).toBe(end.text);
    expect(await family.booking.posts()).toMatchObject({ [end.effects[0]!.key]: 1 });
  });

  it.each(['hang', 'deepHang'])('D27: while the model call of a child hangs (`%s`) → the call is given up at once, and every turn ends as cancelled', async (play) => {
    const { turnId } = await family.begin(play);
    const leaf = await waitFor(async () => (await family.children(turnId)).find(({ agent }) => agent !== 'lead'), { what: 'the child' });
    const asked = () => family.engine.pool.query(`select from holdfast.physical_call where key like $1 || '.%'`, [leaf.turnId]);
    await waitFor(async () => (await asked()).rowCount === 1, { what: 'its model call' });
    expect(await family.engine.client.cancel(turnId, { as: 'tester' })).toMatchObject({ result: 'cancelling' });
    expect(await family.engine.settled(turnId, 15_000)).toMatchObject({ status: 'cancelled', effects: [] });
    expect(new Set((await family.children(turnId)).map((child) => child.status))).toEqual(new Set(['cancelled']));
    expect((await asked()).rowCount).toBe(1);
  });

  it('D6: all of this → the model never got a transcript that a strict provider refuses', () => {
    expect(family.model.violations).toEqual([]);
  });
});
