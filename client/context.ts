import type { Client } from '@temporalio/client';
import type { Pool } from '../store/pool.js';
import type { Lanes } from './lanes.js';

/** What every verb of the client works with. */
export interface ClientContext {
  pool: Pool;
  temporal: Client;
  taskQueue: string;
  /** For messages only. */
  temporalAddress: string;
  /** Resolves when Temporal has answered once; rejects with `unreachable`. */
  ready(): Promise<void>;
  lanes: Lanes;
  /** Agents that are known to exist, so that only the first submit asks. */
  knownAgents: Set<string>;
}
