import { CancellationScope, ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { DetachedRef } from '../contracts/steps.js';
import { store } from './activities.js';
import { DETACHED_WORK, WORKFLOW_TASK_TIMEOUT } from './messages.js';

/** Starts what the end of a turn has begun to undo (D29). */
export async function startCompensations(turnId: string): Promise<void> {
  for (const ref of await store.begunCompensations({ turnId })) await startDetached(ref);
}

/** Starts a turn that outlives this run: nothing that happens to this one ends it (D1, D30). One that was started before is left alone. */
export async function startDetached(ref: DetachedRef): Promise<void> {
  try {
    await CancellationScope.nonCancellable(() => startChild(DETACHED_WORK, {
      workflowId: ref.workflowId,
      args: [ref],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    }));
  } catch (error) {
    // Its class is not part of the workflow library.
    if (!(error instanceof Error) || error.name !== 'WorkflowExecutionAlreadyStartedError') throw error;
  }
}

/** Begins work that outlives this turn; the call is answered as soon as it has begun (D30). */
export async function beginDetached(key: string): Promise<void> {
  const ref = await store.beginWork({ key });
  await startDetached(ref);
  await store.workBegun({ key, turnId: ref.turnId });
}
