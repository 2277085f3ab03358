import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { only, refused, startRig, type Approval, type Rig } from '../support/approval-rig.js';
import { uniqueName } from '../support/names.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 4 };

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

/** Edits and answers the new version. */
async function edit(approval: Approval, args: Record<string, string | number>, as = 'kim'): Promise<{ id: string; hash: string }> {
  const answer = await rig.decide(approval, 'edit', as, args);
  if (answer.result !== 'edited') throw new Error(JSON.stringify(answer));
  return { id: answer.approvalId, hash: answer.hash };
}

describe('an edit (D23)', () => {
  it('D23, case 23: makes a version that needs its own approval; the old hash is refused; the model is told what ran; one effect', async () => {
    const thread = uniqueName('thread');
    const asked = { ...TABLE, name: 'a@x.test' };
    const wished = { ...TABLE, name: 'b@x.test' };
    const turn = await rig.ask({ asks: [{ args: asked }] }, { thread });
    const next = await edit(only(turn), wished);
    expect(next.hash).not.toBe(only(turn).hash);
    const shown = await rig.engine.client.approval(next.id);
    expect(shown).toMatchObject({ version: 2, hash: next.hash, args: wished, state: 'pending', decisions: [] });
    expect(shown.diff).toContainEqual({ field: 'name', before: null, after: 'b@x.test' });
    expect(await rig.done(turn)).toEqual([]);
    for (const verdict of ['approve', 'reject'] as const) expect(await rig.decide(only(turn), verdict)).toMatchObject(refused('wrong_hash'));
    expect(await rig.decide(only(turn), 'edit', 'lee', TABLE)).toMatchObject(refused('wrong_hash'));

    expect(await rig.decide(next, 'approve')).toMatchObject({ result: 'approved', version: 2 });
    const end = await rig.engine.settled(turn.turnId);
    expect(end.text).toMatch(/edited.*"asked":\{[^}]*a@x\.test[^}]*\}.*"executed":\{[^}]*b@x\.test/);
    expect(end.effects).toMatchObject([{ state: 'succeeded', args: wished }]);
    expect(await rig.done(turn)).toHaveLength(1);
    const call = rig.model.requests.flatMap(({ body }) => body.messages).find((message) => message.tool_calls?.some(({ function: f }) => f.arguments.includes('a@x.test')));
    expect(call).toBeDefined();

    const again = await rig.ask({ asks: [{ args: asked }] }, { thread });
    expect(again).toMatchObject({ status: 'waiting_approval', approvals: [{ version: 1, state: 'pending' }] });
    expect(only(again).hash).not.toBe(only(turn).hash);
    expect(rig.model.violations).toEqual([]);
  });

  it.each([
    ['a missing field', { date: '2026-12-24' }, /people/],
    ['another type', { date: '2026-12-24', people: 'four' }, /people/],
    ['a field that does not exist', { ...TABLE, sudo: true }, /additional/],
    ['a number out of its range', { ...TABLE, people: 0 }, /people/],
    ['a value that the target refuses in its preview', { ...TABLE, date: 'someday' }, /422/],
    ['NUL', { ...TABLE, name: 'a\0b' }, /NUL/],
  ])('D23: with %s is refused, and the version shown stays as it was', async (_what, args, why) => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const answer = await rig.decide(only(turn), 'edit', 'kim', args);
    expect(answer).toMatchObject({ ...refused('invalid_edit'), message: expect.stringMatching(why) });
    expect(only(await rig.engine.client.turn(turn.turnId))).toMatchObject({ version: 1, hash: only(turn).hash, state: 'pending' });
    expect(await rig.decide(only(turn), 'reject')).toMatchObject({ result: 'rejected' });
    expect(rig.model.violations).toEqual([]);
  });

  it('D22, D23, case 19: an identical edit sent again gets the same version, while it waits and after the workflow closed', async () => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const wished = { ...TABLE, people: 5 };
    const first = await rig.decide(only(turn), 'edit', 'kim', wished);
    expect(await rig.decide(only(turn), 'edit', 'kim', { people: 5, date: TABLE.date })).toEqual(first);
    expect(await rig.engine.client.approval(only(turn).id)).toMatchObject({ version: 2 });
    await rig.decide({ id: only(turn).id, hash: 'hash' in first ? first.hash : '' }, 'approve');
    await rig.engine.settled(turn.turnId);
    await rig.engine.temporal.workflow.getHandle(turn.workflowId).result();
    expect(await rig.decide(only(turn), 'edit', 'kim', wished)).toEqual(first);
    expect(await rig.decide(only(turn), 'edit', 'kim', { ...TABLE, people: 6 })).toMatchObject(refused('wrong_hash'));
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D23: two edits and an approval at once leave one story: what ran is the version that was approved', async () => {
    const rounds = await Promise.all(Array.from({ length: 3 }, async () => {
      const turn = await rig.ask({ asks: [{ args: TABLE }] });
      const [a, b, approve] = await Promise.all([
        rig.decide(only(turn), 'edit', 'kim', { ...TABLE, people: 5 }), rig.decide(only(turn), 'edit', 'lee', { ...TABLE, people: 6 }), rig.decide(only(turn), 'approve', 'mo'),
      ]);
      expect([a, b, approve].filter((answer) => answer.result !== 'refused')).toHaveLength(1);
      const now = await rig.engine.client.approval(only(turn).id);
      if (now.state === 'pending') expect(await rig.decide(now, 'approve', 'mo')).toMatchObject({ result: 'approved' });
      return { now, end: await rig.engine.until(turn.turnId, 'completed'), effects: await rig.done(turn) };
    }));
    for (const { now, end, effects } of rounds) {
      expect(end.effects).toMatchObject([{ state: 'succeeded', args: now.args }]);
      expect(effects).toHaveLength(1);
    }
    expect(rig.model.violations).toEqual([]);
  });

  it('D23: when an edited call fails at the target, the model is told which arguments were tried', async () => {
    const turn = await rig.ask({ asks: [{ args: { ...TABLE, date: '2027-03-01' } }] });
    const next = await edit(only(turn), { ...TABLE, date: '2027-03-02' });
    await rig.booking.setFaults({ failNext: { status: 422, when: 'before' } });
    expect(await rig.decide(next, 'approve')).toMatchObject({ result: 'approved' });
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'completed', effects: [{ state: 'failed' }] });
    expect(end.text).toMatch(/"status":"failed".*edited.*2027-03-02/);
    expect(rig.model.violations).toEqual([]);
  });
});
