import type { Client } from '@temporalio/client';
import { toFailure } from '../activities/failure.js';
import type { ActivityLog } from '../activities/deps.js';
import type { Pool } from '../store/pool.js';
import { workflowsThatNeedMigration } from '../store/views/needs-migration.js';
import { definitionsChangedSignal } from '../workflows/messages.js';

/**
 * Tells turns that wait as `needs_migration` that a worker has come, which may know their definition (D34). One that cannot be told looks
 * again by itself, so that this never keeps a worker from starting.
 */
export async function wakeUnmigrated(client: Client, pool: Pool, log: ActivityLog): Promise<void> {
  const workflowIds = await workflowsThatNeedMigration(pool).catch((error: unknown) => {
    log.warn({ error: toFailure(error).message }, 'turns that need a migration could not be told that a worker has come; they look again by themselves');
    return [];
  });
  for (const workflowId of workflowIds) {
    try {
      await client.workflow.getHandle(workflowId).signal(definitionsChangedSignal);
    } catch (error) {
      log.warn({ workflowId, error: toFailure(error).message }, 'a turn that needs a migration could not be told that a worker has come; it looks again by itself');
    }
  }
}
