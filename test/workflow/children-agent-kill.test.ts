import { afterAll, expect, it } from 'vitest';
import type { Interrupt } from '../support/engine.js';
import { startFamily, type Family } from '../support/family-rig.js';

/** Where the worker dies; the first of these points that a turn comes to is one of its child's. */
const POINTS: [string, Interrupt['at'], string][] = [
  ['after the dispatch row of the effect of the child', 'after_dispatch', 'book'],
  ['after the effect of the child has happened', 'after_effect', 'book'],
  ['before the turn of the child ends', 'before_report', 'book'],
  ['after the effect of a child of the child', 'after_effect', 'deepBook'],
];

const families: Family[] = [];

afterAll(() => Promise.all(families.map((family) => family.close())));

async function newFamily(): Promise<Family> {
  const family = await startFamily();
  families.push(family);
  return family;
}

/** One call of each model step and one request for each effect: nothing was made twice. */
async function nothingTwice(family: Family, turnId: string, steps: number): Promise<void> {
  expect(family.model.requests).toHaveLength(steps);
  const { rows } = await family.engine.pool.query(
    `select e.kind, e.state from holdfast.ledger_entry e join holdfast.turn t using (turn_id) where t.root_turn_id = $1 and e.state not in ('succeeded', 'reconciled')`, [turnId],
  );
  expect(rows).toEqual([]);
  expect(family.model.violations).toEqual([]);
}

it.each(POINTS)('D32, D36: the worker is killed %s → another goes on, the effect happens once and no model is asked twice', async (_, at, play) => {
  const family = await newFamily();
  const worker = await family.engine.worker({ at, signal: 'SIGKILL' });
  const { turnId } = await family.begin(play);
  const key = await worker.reached;
  expect((await family.children(turnId)).some((child) => key.startsWith(child.turnId))).toBe(true);
  await worker.exited;
  await family.engine.worker();
  const turn = await family.engine.until(turnId, 'completed');
  const [effect, ...others] = await family.done(turn);
  expect(others).toEqual([]);
  expect(turn).toMatchObject({ text: expect.stringContaining(effect!.id), effects: [{ externalId: effect!.id }] });
  await nothingTwice(family, turnId, play === 'book' ? 4 : 6);
});

it('D26, case 25: every worker is killed while a child waits for approval → it is still in the inbox, is decided with a new worker, and runs once', async () => {
  const family = await newFamily();
  const worker = await family.engine.worker();
  const { turnId } = await family.begin('nested');
  const { approvals } = await family.waiting(turnId);
  await worker.stop();
  expect((await family.engine.client.turn(turnId)).approvals).toEqual(approvals);
  await family.engine.worker();
  const [{ id, hash }] = approvals as [typeof approvals[0]];
  expect(await family.engine.client.decide(id, { hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'approved' });
  const turn = await family.engine.until(turnId, 'completed');
  expect(await family.done(turn)).toHaveLength(1);
  await nothingTwice(family, turnId, 6);
});
