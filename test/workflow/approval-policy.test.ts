import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { only, refused, startRig, type Rig } from '../support/approval-rig.js';
import { waitFor } from '../support/wait.js';

let rig: Rig;
const SEATS = 200;
const TABLE = { date: '2026-12-24', people: 4 };

beforeAll(async () => {
  rig = await startRig({ seats: SEATS });
  await rig.engine.worker();
});
afterAll(() => rig?.close());

describe('who may decide (D26)', () => {
  it('D26: with two approvers one person counts once, and only the second person starts the effect', async () => {
    const turn = await rig.ask({ asks: [{ effect: 'pair', args: TABLE }] });
    const approval = only(turn);
    const recorded = await rig.decide(approval, 'approve', 'kim');
    expect(recorded).toMatchObject({ result: 'recorded' });
    expect(await rig.decide(approval, 'approve', 'kim')).toEqual(recorded);
    expect(await rig.decide(approval, 'approve', ' kim ')).toEqual(recorded);
    expect(await rig.decide(approval, 'reject', 'kim')).toMatchObject(refused('already_decided'));
    expect(await rig.done(turn)).toEqual([]);
    expect(await rig.decide(approval, 'approve', 'lee')).toMatchObject({ result: 'approved' });
    expect(only(await rig.engine.settled(turn.turnId)).decisions.map(({ by }) => by)).toEqual(['kim', 'lee']);
    expect(await rig.done(turn)).toHaveLength(1);
    expect(await rig.decide(approval, 'approve', 'kim')).toMatchObject({ result: 'approved' });
    expect(await rig.decide(approval, 'approve', 'mo')).toMatchObject(refused('already_decided'));
    expect(rig.model.violations).toEqual([]);
  });

  it('D22, D26: with two approvers one rejection is final, and an edit discards the approvals of the old version', async () => {
    const [rejected, edited] = await Promise.all([1, 2].map(() => rig.ask({ asks: [{ effect: 'pair', args: TABLE }] })));
    await rig.decide(only(rejected!), 'approve', 'kim');
    expect(await rig.decide(only(rejected!), 'reject', 'lee')).toMatchObject({ result: 'rejected' });
    expect(await rig.decide(only(rejected!), 'approve', 'mo')).toMatchObject(refused('already_decided'));
    await rig.engine.settled(rejected!.turnId);
    expect(await rig.done(rejected!)).toEqual([]);

    await rig.decide(only(edited!), 'approve', 'kim');
    const edit = await rig.decide(only(edited!), 'edit', 'lee', { ...TABLE, people: 5 });
    const next = { id: only(edited!).id, hash: 'hash' in edit ? edit.hash : '' };
    expect(await rig.decide(next, 'approve', 'lee')).toMatchObject({ result: 'recorded', version: 2 });
    expect(await rig.done(edited!)).toEqual([]);
    expect(await rig.decide(next, 'approve', 'kim')).toMatchObject({ result: 'approved', version: 2 });
    await rig.engine.settled(edited!.turnId);
    expect(await rig.done(edited!)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D26: where the requester may not approve, their approval is refused and somebody else\'s counts', async () => {
    const turn = await rig.ask({ asks: [{ effect: 'strict', args: TABLE }] }, { as: 'ria' });
    expect(await rig.decide(only(turn), 'approve', 'ria')).toMatchObject(refused('not_permitted'));
    expect(await rig.decide(only(turn), 'approve', ' ria')).toMatchObject(refused('not_permitted'));
    expect(await rig.done(turn)).toEqual([]);
    expect(await rig.decide(only(turn), 'approve', 'kim')).toMatchObject({ result: 'approved' });
    await rig.engine.settled(turn.turnId);
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D26: the requester may reject what they asked for', async () => {
    const turn = await rig.ask({ asks: [{ effect: 'strict', args: TABLE }] }, { as: 'ria' });
    expect(await rig.decide(only(turn), 'reject', 'ria')).toMatchObject({ result: 'rejected' });
    expect((await rig.engine.settled(turn.turnId)).status).toBe('completed');
    expect(rig.model.violations).toEqual([]);
  });
});

describe('expiry (D24)', () => {
  it('D24, case 26: silence ends as expired, the model is told that it was not run, and a late answer revives nothing', async () => {
    const turn = await rig.ask({ asks: [{ effect: 'quick', args: TABLE }] });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end).toMatchObject({ approvals: [{ state: 'expired' }], effects: [{ state: 'cancelled' }] });
    expect(end.text).toMatch(/"status":"expired".*not done/);
    const late = async () => {
      for (const verdict of ['approve', 'reject'] as const) expect(await rig.decide(only(turn), verdict)).toMatchObject(refused('expired'));
      expect(await rig.decide(only(turn), 'edit', 'kim', { ...TABLE, people: 5 })).toMatchObject(refused('expired'));
    };
    await late();
    await rig.engine.temporal.workflow.getHandle(turn.workflowId).result();
    await late();
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D24, case 26: approvals just before and just after the deadline either run once or are refused as expired, never both', async () => {
    const offsets = [-60, -30, -15, -5, 0, 5, 15, 30];
    const races = await Promise.all(offsets.map(async (offset) => {
      const turn = await rig.ask({ asks: [{ effect: 'quick', args: TABLE }] });
      await waitFor(() => Date.now() >= Date.parse(only(turn).expiresAt) + offset, { what: 'the deadline' });
      const answer = await rig.decide(only(turn), 'approve');
      const end = await rig.engine.until(turn.turnId, 'completed');
      return { approved: answer.result === 'approved', code: answer.result === 'refused' ? answer.code : null, state: only(end).state, effects: (await rig.done(turn)).length };
    }));
    for (const race of races) {
      expect(race).toEqual(race.approved ? { approved: true, code: null, state: 'approved', effects: 1 } : { approved: false, code: 'expired', state: 'expired', effects: 0 });
    }
    expect(rig.model.violations).toEqual([]);
  });
});

describe('conditions at execution (D25)', () => {
  it('D25: a target condition that no longer holds after the approval stops the effect, and the turn says why', async () => {
    const args = { date: '2027-01-01', people: 20 };
    await Promise.all(Array.from({ length: (SEATS - 20) / 20 }, () => fetch(`${rig.booking.url}/reservations`, { method: 'POST', body: JSON.stringify(args) })));
    const [turn, twin] = await Promise.all([1, 2].map(() => rig.ask({ asks: [{ effect: 'guarded', args }] })));
    await rig.decide(only(turn!), 'approve');
    expect((await rig.engine.settled(turn!.turnId)).effects).toMatchObject([{ state: 'succeeded' }]);
    expect(await rig.decide(only(twin!), 'approve')).toMatchObject({ result: 'approved' });
    const end = await rig.engine.settled(twin!.turnId);
    expect(end).toMatchObject({ status: 'completed', effects: [{ state: 'failed' }] });
    expect(end.text).toMatch(/available must be true/);
    expect(await rig.done(twin!)).toEqual([]);
    expect(Object.keys(await rig.booking.posts())).not.toContain(twin!.effects[0]?.key);
    expect(rig.model.violations).toEqual([]);
  });

  it('D25: a condition that cannot be checked lets nothing run either', async () => {
    const turn = await rig.ask({ asks: [{ effect: 'blind', args: TABLE }] });
    expect(await rig.decide(only(turn), 'approve')).toMatchObject({ result: 'approved' });
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'completed', effects: [{ state: 'failed' }] });
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });
});
