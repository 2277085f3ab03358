import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uniqueName } from '../support/names.js';
import { startVersions, type Release, type Versions } from '../support/versions-rig.js';
import { waitFor } from '../support/wait.js';

let rig: Versions;

beforeAll(async () => {
  rig = await startVersions();
});
afterAll(() => rig?.close());

const say = (play: string) => `${play} ${uniqueName('text')}`;
const records = async (turnId: string) =>
  (await rig.engine.pool.query<{ by: string; reason: string | null; from_digest: string; to_digest: string }>('select * from holdfast.turn_migration where turn_id = $1 order by ordinal', [turnId])).rows;

/** What a release changes, and how its model request differs from the old one. */
const CHANGES: [string, Release, object][] = [
  ['prompt', { prompt: 'two' }, { system: expect.stringContaining('You are main two') }],
  ['tool list', { effects: ['guarded'] }, { tools: ['desk', 'guarded', 'ask_user'] }],
  ['model', { model: 'model-two' }, { model: 'model-two' }],
];
const OLD = { system: expect.stringContaining('You are main one'), tools: ['desk', 'plain', 'guarded', 'ask_user'], model: 'model-one' };

describe('a turn waits for an approval and the release changes', () => {
  it.each(CHANGES)('D34: its %s: it goes on with the old meaning; migrated, the steps to come have the new one, and its proposal stands; nothing that was done is done again', async (_what, release, now) => {
    await rig.release({});
    const [kept, moved] = [say('guard'), say('guard')];
    const [old, turn] = await Promise.all([rig.engine.send(kept), rig.engine.send(moved)]);
    await rig.release(release);
    const answer = await rig.migrate(turn, { reason: 'a better release' });
    expect(answer).toMatchObject({ result: 'migrated', takesEffect: 'now', from: turn.definition, closed: [], reproposed: [] });
    expect(await records(turn.turnId)).toMatchObject([{ by: 'olga', reason: 'a better release', from_digest: turn.definition, to_digest: 'to' in answer && answer.to }]);
    expect(await rig.migrate(turn)).toMatchObject({ result: 'already' });
    expect((await rig.engine.client.turn(turn.turnId)).approvals.map(({ hash, state }) => [hash, state])).toEqual([[turn.approvals[0]?.hash, 'pending']]);
    await Promise.all([old, turn].map(rig.approve));
    const ends = await Promise.all([old, turn].map(({ turnId }) => rig.engine.until(turnId, 'completed')));
    expect(rig.asked(kept)).toEqual([OLD, OLD, OLD].map((one) => expect.objectContaining(one)));
    expect(rig.asked(moved)).toEqual([OLD, OLD, now].map((one) => expect.objectContaining(one)));
    expect(ends.map(({ definition }) => definition)).toEqual([old.definition, 'to' in answer && answer.to]);
    expect(ends.map(({ effects }) => effects.map(({ state }) => state))).toEqual([['succeeded', 'succeeded'], ['succeeded', 'succeeded']]);
    expect(await Promise.all([old, turn].map(rig.posts))).toEqual([2, 2]);
    expect(await records(old.turnId)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D22, D23, D34: its policy: one approval is enough as before; migrated, a new version needs its own two approvals; the old hash approves nothing', async () => {
    await rig.release({});
    const [kept, turn] = await Promise.all([rig.engine.send(say('guard')), rig.engine.send(say('guard'))]);
    const [old] = turn.approvals;
    await rig.release({ approvers: 2 });
    expect(await rig.approve(kept)).toMatchObject({ result: 'approved', version: 1 });
    const answer = await rig.migrate(turn);
    expect(answer).toMatchObject({ result: 'migrated', reproposed: [{ approvalId: old?.id, version: 2 }] });
    expect(await rig.engine.client.decide(old!.id, { hash: old!.hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'refused', code: 'wrong_hash' });
    expect(await rig.approve(turn)).toMatchObject({ result: 'recorded', version: 2 });
    expect(await rig.posts(turn)).toBe(1);
    const { hash } = await rig.engine.client.approval(old!.id);
    expect(await rig.engine.client.decide(old!.id, { hash, decision: 'approve', as: 'chief' })).toMatchObject({ result: 'approved' });
    expect((await rig.engine.until(turn.turnId, 'completed')).effects).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }]);
    expect(await rig.posts(turn)).toBe(2);
  });

  it('D23, D34: its target: the approved one runs where it was approved for, because the migration came after the approval', async () => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    await rig.booking.hold();
    await rig.approve(turn);
    await waitFor(async () => (await rig.booking.held()) === 1, { what: 'the effect to be held' });
    await rig.release({ target: '/nowhere' }, () => rig.booking.release());
    expect(await rig.migrate(turn)).toMatchObject({ result: 'migrated', reproposed: [] });
    expect((await rig.engine.until(turn.turnId, 'completed')).effects).toMatchObject([{ state: 'succeeded' }, { state: expect.stringMatching(/succeeded|reconciled/) }]);
  });

  it.each([
    ['the effect was taken away', { effects: ['plain'] }, /has no guarded any more/],
    ['the arguments do not fit its schema any more', { guardedSchema: '{ type = "object", required = ["seats"], properties = { seats = { type = "integer" } } }' }, /do not fit guarded/],
  ])('D7, D34, case 25: %s: migrated, it is closed and the model is told; its approval is void', async (_what, release, reason) => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    await rig.release(release);
    expect(await rig.migrate(turn)).toMatchObject({ result: 'migrated', closed: [{ name: 'guarded', reason: expect.stringMatching(reason) }] });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end.text).toMatch(reason);
    expect([await rig.posts(turn), end.effects.map(({ state }) => state), end.approvals.map(({ state }) => state)]).toEqual([1, ['succeeded', 'cancelled'], ['cancelled']]);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('a migration', () => {
  it('D34: two at once: one is carried out and recorded, the other finds it done', async () => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    await rig.release({ prompt: 'three', approvers: 2 });
    const answers = await Promise.all([rig.migrate(turn), rig.migrate(turn)]);
    expect(answers.map(({ result }) => result).sort()).toEqual(['already', 'migrated']);
    expect(await records(turn.turnId)).toHaveLength(1);
    expect((await rig.engine.client.turn(turn.turnId)).approvals.map(({ version, state }) => [version, state])).toEqual([[2, 'pending']]);
    await rig.engine.client.cancel(turn.turnId, { as: 'tester' });
    await rig.engine.until(turn.turnId, 'cancelled');
  });

  it('D34: of a turn at work takes effect at its next step, and back again with --to', async () => {
    await rig.release({});
    await rig.booking.hold();
    const text = say('hold');
    const { turnId } = await rig.engine.client.submit({ agent: 'main', text, as: 'tester' });
    await waitFor(async () => (await rig.booking.held()) === 1, { what: 'the effect to be held' });
    const { definition } = await rig.engine.client.turn(turnId);
    const current = (await rig.engine.pool.query<{ digest: string }>(`select digest from holdfast.definition where agent = 'main' and body ->> 'instructions' like '%two%' limit 1`)).rows[0]!.digest;
    expect(await rig.migrate({ turnId }, { to: current })).toMatchObject({ result: 'migrated', takesEffect: 'next_step' });
    expect(await rig.migrate({ turnId }, { to: definition! })).toMatchObject({ result: 'migrated', from: current, to: definition });
    expect(await rig.migrate({ turnId }, { to: current })).toMatchObject({ result: 'migrated' });
    await rig.booking.release();
    const end = await rig.engine.until(turnId, 'completed');
    expect(rig.asked(text).map(({ system }) => system.includes('You are main two'))).toEqual([false, true]);
    expect(end.effects).toMatchObject([{ state: 'succeeded' }]);
    expect(await records(turnId)).toHaveLength(3);
  });

  it('D34: that cannot be done is refused with its code, and nothing is changed', async () => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    const desk = (await rig.engine.pool.query<{ digest: string }>(`select digest from holdfast.current_definition where agent = 'desk'`)).rows[0]!.digest;
    const refused = (code: string) => ({ result: 'refused', code });
    expect(await rig.migrate(turn, { to: desk })).toMatchObject(refused('foreign_definition'));
    expect(await rig.migrate(turn, { to: 'a'.repeat(64) })).toMatchObject(refused('unknown_definition'));
    await expect(rig.migrate(turn, { to: 'latest' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(rig.migrate({ turnId: 'none' })).rejects.toMatchObject({ code: 'not_found' });
    const queued = await rig.engine.client.submit({ agent: 'main', threadId: turn.threadId, text: 'next', as: 'tester' });
    expect(await rig.migrate(queued)).toMatchObject(refused('not_started'));
    await rig.engine.client.cancel(turn.turnId, { as: 'tester' });
    const end = await rig.engine.until(turn.turnId, 'cancelled');
    expect(await rig.migrate(turn)).toMatchObject(refused('turn_finished'));
    expect([end.definition, await records(turn.turnId)]).toEqual([turn.definition, []]);
    await rig.engine.until(queued.turnId, 'completed');
  });

  it('D26, D32, D34: of a turn whose child agent waits: the child keeps its own meaning until it is migrated itself', async () => {
    await rig.release({});
    const text = say('child');
    const turn = await rig.engine.send(text);
    const child = (await rig.engine.pool.query<{ turn_id: string }>('select turn_id from holdfast.turn where root_turn_id = $1 and turn_id <> $1', [turn.turnId])).rows[0]!.turn_id;
    await rig.release({ prompt: 'four' });
    expect(await rig.migrate(turn)).toMatchObject({ result: 'migrated', openChildren: [child] });
    expect((await rig.engine.client.turn(child)).status).toBe('waiting_approval');
    const before = rig.model.requests.length;
    expect(await rig.migrate({ turnId: child })).toMatchObject({ result: 'migrated', openChildren: [] });
    await rig.approve(turn);
    await rig.engine.until(turn.turnId, 'completed');
    expect(rig.model.requests.slice(before).map(({ body }) => String(body.messages[0]?.content))).toEqual([
      expect.stringContaining('You are desk four'), expect.stringContaining('You are main four'),
    ]);
    expect(rig.model.violations).toEqual([]);
  });
});
