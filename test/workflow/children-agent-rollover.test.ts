import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Temporal } from '../../dev/temporal/start.js';
import { startFamily, type Family } from '../support/family-rig.js';
import { chainOf, rollOver, startShortRuns, SUGGEST_AFTER } from '../support/short-runs.js';
import { eventsOf } from '../support/thread.js';
import { waitFor } from '../support/wait.js';

let temporal: Temporal;
let family: Family;

beforeAll(async () => {
  temporal = await startShortRuns();
  family = await startFamily({ TEMPORAL_ADDRESS: temporal.address });
  await family.engine.worker();
});

afterAll(async () => {
  await family?.close();
  await temporal?.stop();
});

/** Makes a run longer than it should be, with signals that mean nothing; each is handled before the next. */
async function lengthen(workflowId: string): Promise<void> {
  const handle = family.engine.temporal.workflow.getHandle(workflowId);
  await waitFor(async () => {
    const { raw, historyLength } = await handle.describe();
    if (!raw.pendingWorkflowTask && historyLength < SUGGEST_AFTER + 10) await handle.signal('ledgerChanged', { key: 'none' });
    return !raw.pendingWorkflowTask && historyLength >= SUGGEST_AFTER + 10;
  }, { what: `${workflowId} to become long` });
}

it.each([['a child', 'guard'], ['a child of a child', 'nested']])('D1, D32, case 46: %s has become long while it waits → its run continues as new with its approval; its parents, as long, wait for it and only then continue as new', async (_, play) => {
  const { turnId } = await family.begin(play);
  const { approvals: [approval], workflowId } = await family.waiting(turnId);
  const lineage = [workflowId, ...(await family.children(turnId)).map((child) => child.workflowId)];
  const leaf = lineage.pop()!;
  await rollOver(family.engine, leaf);
  await rollOver(family.engine, leaf);
  for (const parent of lineage) await lengthen(parent);
  for (const parent of lineage) expect(await chainOf(family.engine, parent), parent).toHaveLength(1);
  expect((await family.waiting(turnId)).approvals).toEqual([approval]);
  expect(await family.engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'approved' });
  const end = await family.engine.until(turnId, 'completed');
  expect(end).toMatchObject({ text: expect.stringContaining('told: told: '), usage: { effects: 1 } });
  expect(await family.done(end)).toHaveLength(1);
  expect((await chainOf(family.engine, leaf)).length).toBeGreaterThanOrEqual(3);
  for (const parent of lineage) {
    const chain = await chainOf(family.engine, parent);
    expect(chain.length, parent).toBeGreaterThanOrEqual(2);
    // The child belongs to the first run, and began once.
    expect(chain.map((events) => events.filter((event) => event.startChildWorkflowExecutionInitiatedEventAttributes).length)).toEqual(chain.map((_, run) => (run === 0 ? 1 : 0)));
  }
  expect(family.model.violations).toEqual([]);
});

it('D1, D27: the root is cancelled after the run of its child has continued as new → the new run of the child is reached and ends first', async () => {
  const { turnId } = await family.begin('guard');
  const { approvals: [approval] } = await family.waiting(turnId);
  const [child] = await family.children(turnId);
  await rollOver(family.engine, child!.workflowId);
  expect(await family.engine.client.cancel(turnId, { as: 'tester' })).toMatchObject({ result: 'cancelling' });
  const end = await family.engine.settled(turnId);
  expect(end).toMatchObject({ status: 'cancelled', effects: [{ state: 'cancelled' }] });
  expect((await family.children(turnId)).map(({ status }) => status)).toEqual(['cancelled']);
  expect(await family.engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'boss' })).toMatchObject({ result: 'refused' });
  const events = await eventsOf(family.engine, child!.workflowId);
  expect(events.at(-1)).toHaveProperty('workflowExecutionCompletedEventAttributes');
});
