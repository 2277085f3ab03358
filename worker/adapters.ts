import type { ActivityLog } from '../activities/deps.js';
import type { EffectDefinition, McpEffect } from '../contracts/effect.js';
import { createFunctionAdapter, type FindFunctions } from '../effects/function/adapter.js';
import { createHttpAdapter } from '../effects/http/adapter.js';
import { createMcpAdapter } from '../effects/mcp/adapter.js';
import { createPostgresAdapter } from '../effects/postgres/adapter.js';
import type { Adapters } from '../effects/registry.js';
import { createSmtpAdapter } from '../effects/smtp/adapter.js';
import type { Databases } from '../store/application/databases.js';

/** The adapters of one worker (D20). */
export interface WorkerAdapters {
  adapters: Adapters;
  /** Logs what the targets say against the configuration. It never stops a worker: a server may be away, and its hints are advisory (D19). */
  inspect(effects: EffectDefinition[]): Promise<void>;
  /** Ends connections and the programs behind them; called when nothing runs any more. */
  close(): Promise<void>;
}

const INSPECT_MS = 30_000;

interface Parts {
  secrets(envName: string): string | undefined;
  functions: FindFunctions;
  log: ActivityLog;
  databases: Databases;
  /** DSN of the ledger's own database. */
  ledgerDsn: string;
}

export function createAdapters({ secrets, functions, log, databases, ledgerDsn }: Parts): WorkerAdapters {
  const mcp = createMcpAdapter({ secrets });
  const inspectOne = async (effect: McpEffect): Promise<void> => {
    for (const problem of await mcp.inspect(effect, AbortSignal.timeout(INSPECT_MS))) log.warn({ effect: effect.name }, `effect "${effect.name}": ${problem}`);
  };
  return {
    adapters: {
      http: createHttpAdapter({ secrets }), postgres: createPostgresAdapter({ secrets, databases, ledgerDsn }), smtp: createSmtpAdapter({ secrets }), mcp,
      function: createFunctionAdapter(functions),
    },
    inspect: async (effects) => void (await Promise.all(effects.map((effect) => (effect.type === 'mcp' ? inspectOne(effect) : undefined)))),
    close: () => mcp.close(),
  };
}
