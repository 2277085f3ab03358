import { WorkflowNotFoundError } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import type { ActivityDeps, ActivityLog } from '../activities/deps.js';
import { Permits } from '../activities/permits.js';
import { roleSchema, userSchema } from '../contracts/principal.js';
import { createA2a } from '../children/a2a/adapter.js';
import type { FunctionOf } from '../children/types.js';
import { adapterOf } from '../effects/registry.js';
import type { Adapters } from '../effects/registry.js';
import { createProviders } from '../providers/registry.js';
import type { Databases } from '../store/application/databases.js';
import type { Pool } from '../store/pool.js';
import { DETACHED_WORK, detachedStart, ledgerChangedSignal } from '../workflows/messages.js';
import { definitionCache } from './definitions.js';

export interface WorkerParts {
  pool: Pool;
  databases: Databases;
  /** DSN of the ledger's own database. */
  ledgerDsn: string;
  client: Client;
  taskQueue: string;
  log: ActivityLog;
  adapters: Adapters;
  /** Value of an environment variable that a definition names; definitions never hold the secret itself. */
  secrets(envName: string): string | undefined;
  /** Functions of the application that are children (D32). */
  functionOf: FunctionOf;
}

/** The real dependencies of activities. A test replaces single ones; nothing else differs. */
export function createDeps({ pool, databases, ledgerDsn, client, taskQueue, log, adapters, secrets, functionOf }: WorkerParts): ActivityDeps {
  return {
    pool,
    statements: databases.pool(ledgerDsn),
    log,
    models: createProviders({ secrets }),
    adapterOf: (effect) => adapterOf(adapters, effect),
    remote: createA2a(secrets),
    functionOf,
    definition: definitionCache(pool),
    principal: (as) => ({ user: userSchema.parse(as ?? 'dev'), roles: [...roleSchema.options] }),
    permits: new Permits(),
    probe: async () => undefined,
    ledgerChanged: async (workflowId, key) => {
      try {
        await client.workflow.getHandle(workflowId).signal(ledgerChangedSignal, { key });
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
    startDetached: async (ref) => {
      await client.workflow.start(DETACHED_WORK, detachedStart(ref, taskQueue));
    },
  };
}
