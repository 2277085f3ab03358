import { Client, Connection } from '@temporalio/client';
import { createPool } from '../store/pool.js';
import { unreachableTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { Lanes } from './lanes.js';
import type { ClientSettings } from './settings.js';

/** How long Temporal may take to answer for the first time. */
const CONNECT_MS = 5_000;

/**
 * Opens the client's context. Nothing is contacted yet: reading needs PostgreSQL only, so that turns, approvals and the ledger can
 * be seen while Temporal is away.
 */
export function openContext(settings: ClientSettings): { context: ClientContext; close(): Promise<void> } {
  const { address, namespace, apiKey, tls } = settings.temporal;
  const connection = Connection.lazy({
    address,
    // No retries of the library's own: `callTemporal` makes them, within its patience and for the errors that it knows.
    interceptors: [],
    ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }),
  });
  const pool = createPool({ dsn: settings.postgres.dsn, max: settings.postgres.poolMax });
  let answered = false;
  const context: ClientContext = {
    pool,
    temporal: new Client({ connection, namespace }),
    taskQueue: settings.taskQueue,
    temporalAddress: address,
    lanes: new Lanes(),
    knownAgents: new Set(),
    ready: async () => {
      if (answered) return;
      try {
        await connection.withDeadline(Date.now() + CONNECT_MS, () => connection.workflowService.getSystemInfo({}));
        answered = true;
      } catch (error) {
        throw unreachableTemporal(address, error);
      }
    },
  };
  return {
    context,
    close: async () => {
      await Promise.allSettled([connection.close(), pool.end()]);
    },
  };
}
