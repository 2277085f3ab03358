import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { only, refused, startRig, type Rig, type Verdict } from '../support/approval-rig.js';
import { uniqueName } from '../support/names.js';

let rig: Rig;
const TABLE = { date: '2026-12-24', people: 4 };

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

describe('a proposal', () => {
  it('D21: holds version, arguments, the target\'s difference, expiry and who may decide; nothing runs before the approval', async () => {
    const turn = await rig.ask({ asks: [{ args: { people: 4, date: '2026-12-24' } }] });
    const approval = only(turn);
    expect(turn).toMatchObject({ status: 'waiting_approval', reason: expect.stringContaining(approval.id) });
    expect(approval).toMatchObject({ version: 1, args: TABLE, effect: 'reserve', roles: ['approver'], approvers: 1, state: 'pending', decisions: [] });
    expect(approval.hash).toMatch(/^[0-9a-f]{64}$/);
    const line = Object.fromEntries(approval.diff.map(({ field, before, after }) => [field, [before, after]]));
    expect(line).toMatchObject({ people: [null, 4], date: [null, '2026-12-24'] });
    expect(Number(line.seatsLeft?.[0]) - Number(line.seatsLeft?.[1])).toBe(4);
    expect(await rig.done(turn)).toEqual([]);
    const { rows } = await rig.engine.pool.query("select extract(epoch from expires_at - created_at)::int as life from holdfast.proposal where approval_id = $1", [approval.id]);
    expect(rows).toEqual([{ life: 900 }]);

    expect(await rig.decide(approval, 'approve', 'kim')).toEqual({ result: 'approved', approvalId: approval.id, version: 1, hash: approval.hash });
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'completed', approvals: [{ state: 'approved', decisions: [{ by: 'kim', decision: 'approve' }] }] });
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D21: what the target refuses in its preview is never shown for approval; the model is told', async () => {
    const turn = await rig.ask({ asks: [{ args: { date: 'someday', people: 4 } }] });
    expect(turn).toMatchObject({ status: 'completed', approvals: [], effects: [{ state: 'failed' }] });
    expect(turn.text).toContain('the preview answered 422');
    expect(rig.model.violations).toEqual([]);
  });
});

describe('a decision that does not fit', () => {
  it('D22: unknown id, wrong hash and an edit without or an approval with arguments are refused, each by name; the right one still counts', async () => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const other = await rig.ask({ asks: [{ args: TABLE }] });
    const approval = only(turn);
    expect(await rig.decide({ id: 'apr-nothing', hash: approval.hash }, 'approve')).toMatchObject(refused('unknown_approval'));
    expect(await rig.decide({ id: approval.id, hash: '0'.repeat(64) }, 'approve')).toMatchObject(refused('wrong_hash'));
    expect(await rig.decide({ id: approval.id, hash: only(other).hash }, 'approve')).toMatchObject(refused('wrong_hash'));
    expect(await rig.decide(approval, 'edit')).toMatchObject(refused('invalid_input'));
    expect(await rig.decide(approval, 'approve', 'kim', { ...TABLE, people: 5 })).toMatchObject(refused('invalid_input'));
    expect((await rig.engine.client.turn(turn.turnId)).status).toBe('waiting_approval');
    expect(await rig.decide(approval, 'approve')).toMatchObject({ result: 'approved' });
    await rig.engine.settled(turn.turnId);
    expect(await rig.done(other)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });

  it('D22, D24: after a cancel, and after the turn has ended, a decision revives nothing', async () => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const approval = only(turn);
    expect(await rig.engine.client.cancel(turn.turnId, { as: 'kim' })).toMatchObject({ result: 'cancelling' });
    expect(await rig.decide(approval, 'approve')).toMatchObject(refused('turn_finished'));
    const end = await rig.engine.until(turn.turnId, 'cancelled');
    expect(end).toMatchObject({ approvals: [{ state: 'cancelled' }], effects: [{ state: 'cancelled' }] });
    for (const verdict of ['approve', 'reject'] as const) expect(await rig.decide(approval, verdict)).toMatchObject(refused('turn_finished'));
    expect(await rig.decide(approval, 'edit', 'kim', { ...TABLE, people: 5 })).toMatchObject(refused('turn_finished'));
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });
});

describe('repeats and contradictions', () => {
  it('D22, case 06, case 19: the same approval again gets the same answer, running, ended and after the workflow closed; others get already_decided', async () => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const approval = only(turn);
    const [first, twin] = await Promise.all([rig.decide(approval, 'approve'), rig.decide(approval, 'approve')]);
    expect(first).toMatchObject({ result: 'approved', hash: approval.hash });
    expect(twin).toEqual(first);
    await rig.engine.settled(turn.turnId);
    const { workflowId } = turn;
    const late = async () => {
      expect(await rig.decide(approval, 'approve')).toEqual(first);
      expect(await rig.decide(approval, 'reject')).toMatchObject(refused('already_decided'));
      expect(await rig.decide(approval, 'approve', 'lee')).toMatchObject(refused('already_decided'));
      expect(await rig.decide(approval, 'reject', 'lee')).toMatchObject(refused('already_decided'));
      expect(await rig.decide(approval, 'edit', 'lee', { ...TABLE, people: 5 })).toMatchObject(refused('already_decided'));
    };
    await late();
    await rig.engine.temporal.workflow.getHandle(workflowId).result();
    await late();
    expect(await rig.done(turn)).toHaveLength(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D22, case 06: twenty mixed decisions at once have one winner and at most one effect', async () => {
    const rounds = await Promise.all(Array.from({ length: 3 }, async () => {
      const turn = await rig.ask({ asks: [{ args: TABLE }] });
      const votes = Array.from({ length: 20 }, (_, i): [string, Verdict] => [`person-${i}`, i % 2 === 0 ? 'approve' : 'reject']);
      const answers = await Promise.all(votes.map(([person, verdict]) => rig.decide(only(turn), verdict, person)));
      return { turn, answers, end: await rig.engine.settled(turn.turnId) };
    }));
    for (const { turn, answers, end } of rounds) {
      const winners = answers.filter((answer) => answer.result !== 'refused');
      expect(winners).toHaveLength(1);
      expect(new Set(answers.flatMap((answer) => (answer.result === 'refused' ? [answer.code] : [])))).toEqual(new Set(['already_decided']));
      expect(only(end)).toMatchObject({ state: winners[0]?.result, decisions: [expect.anything()] });
      expect(await rig.done(turn)).toHaveLength(winners[0]?.result === 'approved' ? 1 : 0);
    }
    expect(rig.model.violations).toEqual([]);
  });

  it('D24: a rejection is told to the model with its reason, which still answers; nothing runs', async () => {
    const turn = await rig.ask({ asks: [{ args: TABLE }] });
    const approval = only(turn);
    const answer = await rig.engine.client.decide(approval.id, { hash: approval.hash, decision: 'reject', as: 'kim', reason: 'too many people' });
    expect(answer).toMatchObject({ result: 'rejected' });
    const end = await rig.engine.settled(turn.turnId);
    expect(end).toMatchObject({ status: 'completed', approvals: [{ state: 'rejected' }], effects: [{ state: 'cancelled' }] });
    expect(end.text).toMatch(/"status":"rejected".*too many people/);
    expect(await rig.done(turn)).toEqual([]);
    expect(await rig.decide(approval, 'reject')).toEqual(answer);
    expect(rig.model.violations).toEqual([]);
  });

  it('D24: a chat message "yes" approves nothing, neither queued nor steered', async () => {
    const thread = uniqueName('thread');
    const turn = await rig.ask({ asks: [{ args: TABLE }] }, { thread });
    const says = await Promise.all((['queue', 'steer'] as const).map((mode) => rig.engine.client.submit({ agent: 'desk', threadId: thread, text: 'yes, approve', as: 'kim', mode })));
    expect(await rig.engine.client.turn(turn.turnId)).toMatchObject({ status: 'waiting_approval', approvals: [{ state: 'pending', decisions: [] }] });
    expect(await rig.decide(only(turn), 'reject')).toMatchObject({ result: 'rejected' });
    await Promise.all([turn.turnId, ...says.map((said) => said.turnId)].map((id) => rig.engine.until(id, 'completed')));
    expect(await rig.done(turn)).toEqual([]);
    expect(rig.model.violations).toEqual([]);
  });
});
