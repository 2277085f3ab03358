import type { FunctionOf, RemoteAgent } from '../children/types.js';
import type { AgentDefinition } from '../contracts/definition.js';
import type { EffectDefinition } from '../contracts/effect.js';
import type { Principal } from '../contracts/principal.js';
import type { EffectAdapter } from '../effects/types.js';
import type { ModelProvider } from '../providers/types.js';
import type { Pool } from '../store/pool.js';

/** Points at which a test may interrupt a worker (D36). In production nothing listens. */
export type ProbePoint = 'before_dispatch' | 'after_dispatch' | 'after_effect' | 'after_record' | 'before_report' | 'after_model' | 'after_model_stored' | 'before_send';

/** Where log lines go; a pino logger fits. */
export interface ActivityLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Everything activities touch, injected by the composition root. */
export interface ActivityDeps {
  pool: Pool;
  models: ModelProvider;
  adapterOf(effect: EffectDefinition): EffectAdapter;
  remote: RemoteAgent;
  functionOf: FunctionOf;
  /** Pinned definitions by digest; they never change, so they may be cached. */
  definition(digest: string): Promise<AgentDefinition>;
  /** Who acts, from what the sender named (I9, `dev` auth). */
  principal(as: string | undefined): Principal;
  /** Wakes a conversation that waits for an entry which was settled elsewhere (D15). Unreachable or closed: not an error. */
  ledgerChanged(workflowId: string, key: string): Promise<void>;
  probe(point: ProbePoint, key: string): Promise<void>;
  log: ActivityLog;
}
