import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { RECONCILE_SWEEP } from '../workflows/messages.js';

/** How often open effects of closed conversations are looked up again; waiting turns look by themselves (D15). */
const EVERY = '1 minute';

/** Makes sure that the sweep is scheduled, once for all workers of a task queue. */
export async function ensureSweepSchedule(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: `holdfast-reconcile-${taskQueue}`,
      spec: { intervals: [{ every: EVERY }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: EVERY },
      action: { type: 'startWorkflow', workflowType: RECONCILE_SWEEP, taskQueue, workflowId: `holdfast/reconcile/${taskQueue}` },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
