import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import type { Engine } from './engine.js';
import { eventsOf } from './thread.js';
import { waitFor } from './wait.js';

/** What was sent by hand to a workflow and refused, oldest first (D5). */
export async function refusalsOf(engine: Engine, workflowId: string): Promise<{ kind: string; message: string }[]> {
  const { rows } = await engine.pool.query<{ kind: string; message: string }>('select kind, message from holdfast.refusal where workflow_id = $1 order by id', [workflowId]);
  return rows;
}

/** What is wrong with a payload, the payload as a person would send it, and what the stored refusal must say. */
export type Malformed = [what: string, payload: unknown, why: RegExp];

/**
 * Sends each payload and waits until it is refused and kept, once, while the workflow lives on.
 */
export async function expectRefusals(engine: Engine, handle: WorkflowHandle, kind: string, table: Malformed[]): Promise<void> {
  for (const [what, payload, why] of table) {
    const before = (await refusalsOf(engine, handle.workflowId)).length;
    await (payload === undefined ? handle.signal(kind) : handle.signal(kind, payload));
    await waitFor(async () => (await refusalsOf(engine, handle.workflowId)).length > before, { what: `the refusal of ${kind} with ${what}` });
    expect((await refusalsOf(engine, handle.workflowId)).slice(before)).toEqual([{ kind, message: expect.stringMatching(why) as string }]);
  }
  await expectUnharmed(engine, handle);
}

/** The run is open and none of its tasks failed. */
export async function expectUnharmed(engine: Engine, handle: WorkflowHandle): Promise<void> {
  expect((await handle.describe()).status.name).toBe('RUNNING');
  const failed = (await eventsOf(engine, handle.workflowId)).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? []);
  expect(failed).toEqual([]);
}
