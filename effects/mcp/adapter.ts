import type { McpEffect } from '../../contracts/effect.js';
import type { EffectAdapter } from '../types.js';
import { inspectMcp } from './inspect.js';
import { lookupMcp } from './lookup.js';
import { performMcp } from './perform.js';
import type { McpContext } from './session.js';
import { createSessions } from './sessions.js';

export interface McpAdapter extends EffectAdapter<McpEffect> {
  /** What the server says against the configuration, one line each; empty when all fits. */
  inspect(effect: McpEffect, signal: AbortSignal): Promise<string[]>;
  /** Ends all connections and the servers that were started for them. */
  close(): Promise<void>;
}

/**
 * Effects that are tools of an MCP server (D20). docs/effects.md says which answer means what. One call is one `tools/call`: nothing is
 * retried, because only the ledger may decide to send again (D13). A tool cannot show a difference or a state, so there is no preview.
 */
export function createMcpAdapter({ secrets, fetch: given }: { secrets: McpContext['secrets']; fetch?: typeof fetch }): McpAdapter {
  const sessions = createSessions({ secrets, fetch: given ?? fetch });
  return {
    perform: (call, signal) => performMcp(sessions, call, signal),
    lookup: (call, signal) => lookupMcp(sessions, call, signal),
    preview: async (call) => ({ kind: 'preview', before: {}, after: call.args }),
    precondition: async ({ effect }) =>
      effect.approval?.precondition == null ? { holds: true } : { holds: false, message: 'an MCP tool cannot be asked for a precondition' },
    inspect: (effect, signal) => inspectMcp(sessions, effect, signal),
    close: () => sessions.close(),
  };
}
