import type { FunctionOf, RemoteAgent } from '../children/types.js';
import type { AgentDefinition } from '../contracts/definition.js';
import type { EffectDefinition } from '../contracts/effect.js';
import type { Principal } from '../contracts/principal.js';
import type { DetachedRef } from '../contracts/steps.js';
import { NeedsMigration } from '../domain/failure.js';
import type { EffectAdapter } from '../effects/types.js';
import type { ModelProvider } from '../providers/types.js';
import type { Pool } from '../store/pool.js';
import type { Permits } from './permits.js';

/** Points at which a test may interrupt a worker (D36). In production nothing listens. */
export type ProbePoint = 'before_dispatch' | 'after_dispatch' | 'after_effect' | 'after_record' | 'before_report' | 'after_end' | 'after_model' | 'after_model_stored' | 'before_send' | 'in_transaction';

/** Where log lines go; a pino logger fits. */
export interface ActivityLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Everything activities touch, injected by the composition root. */
export interface ActivityDeps {
  pool: Pool;
  /** Connections to the ledger's database for statements of the application: names mean what they mean to its user (D18). */
  statements: Pool;
  models: ModelProvider;
  adapterOf(effect: EffectDefinition): EffectAdapter;
  remote: RemoteAgent;
  functionOf: FunctionOf;
  /** Pinned definitions by digest; they never change, so they may be cached. Throws `NeedsMigration` for one that this build cannot use (D34). */
  definition(digest: string): Promise<AgentDefinition>;
  /** Who acts, from what the sender named (I9, `dev` auth). */
  principal(as: string | undefined): Principal;
  /** Wakes a conversation that waits for an entry which was settled elsewhere (D15). Unreachable or closed: not an error. */
  ledgerChanged(workflowId: string, key: string): Promise<void>;
  /** Starts the run of a detached turn; one that runs already is left alone (D29, D30). */
  startDetached(ref: DetachedRef): Promise<void>;
  /** Slots for calls of this worker (D27). */
  permits: Permits;
  probe(point: ProbePoint, key: string): Promise<void>;
  log: ActivityLog;
}

/** A definition, or null when this build cannot use it. */
export async function usableDefinition(deps: ActivityDeps, digest: string): Promise<AgentDefinition | null> {
  try {
    return await deps.definition(digest);
  } catch (error) {
    if (error instanceof NeedsMigration) return null;
    throw error;
  }
}
