import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { only, startRig, type Rig } from '../support/approval-rig.js';
import { uniqueName } from '../support/names.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
  await rig.engine.worker();
});
afterAll(() => rig?.close());

/** What the first build carried to a new run of a turn that waits for its approval. Never changed: runs that it began may still be under way. */
function carriedByFirstBuild({ turnId, approvals: [approval] }: TurnView): object {
  const ref = {
    key: approval!.key, index: 0, kind: 'effect', name: 'reserve', childAgent: false, sequential: false, needsApproval: true, hasPrecondition: false, timeoutMs: 4000, summarize: false,
  };
  const proposal = { approvalId: approval!.id, version: 1, hash: approval!.hash, expiresAt: Date.now() + 60_000 };
  return {
    queue: [], steered: [], decided: [], settled: [],
    running: {
      turnId, maxSteps: 20, windowSize: 20, modelTimeoutMs: 30_000, summaryTiming: null, loop: { step: 1, corrections: 0, correction: null }, toSummarize: [], cancelled: false,
      calls: [{ ref, phase: 'approval', proposal, generation: null, unsent: 0 }],
    },
  };
}

it.each([
  { decision: 'approve', result: 'approved', state: 'succeeded', done: 1 }, { decision: 'reject', result: 'rejected', state: 'cancelled', done: 0 },
] as const)('D1, D34: a run goes on from what the first build carried over: the turn that waited is $result, done $done times and completed', async ({ decision, result, state, done }) => {
  const threadId = uniqueName('older');
  const { turnId } = await rig.engine.client.submit({ agent: 'desk', threadId, text: JSON.stringify({ asks: [{ args: { date: '2026-12-24', people: 10 } }] }), as: 'tester' });
  const waiting = await rig.engine.until(turnId, 'waiting_approval');
  await rig.engine.temporal.workflow.getHandle(waiting.workflowId).terminate('the older build carried it on');
  await rig.engine.temporal.workflow.start('conversation', { workflowId: waiting.workflowId, taskQueue: rig.engine.taskQueue, args: [{ agent: 'desk', threadId, carried: carriedByFirstBuild(waiting) }] });
  expect(await rig.decide(only(waiting), decision)).toMatchObject({ result });
  const after = await rig.engine.until(turnId, 'completed');
  expect(after).toMatchObject({ effects: [{ state }] });
  expect(await rig.done(after)).toHaveLength(done);
});
