import type { McpTarget } from '../../contracts/effect.js';
import { openLine, type Line } from './line.js';
import { SessionProblem, type McpContext, type Session } from './session.js';

/** Connections of one worker, one for each server. */
export interface Sessions {
  /** The open connection, or a new one where there is none or the old one is of no use any more. Throws `SessionProblem`, also when `signal` comes first. */
  get(server: McpTarget['server'], signal: AbortSignal): Promise<Session>;
  /** Ends all connections and the programs behind them. */
  close(): Promise<void>;
}

export function createSessions(context: McpContext): Sessions {
  const current = new Map<string, Line>();
  /** Also those that are retired and not ended yet. */
  const all = new Set<Line>();
  const stopping = new AbortController();

  const open = (server: McpTarget['server'], key: string): Line => {
    const line: Line = openLine(context, server, {
      retired: () => { if (current.get(key) === line) current.delete(key); },
      ended: () => void all.delete(line),
    }, stopping.signal);
    current.set(key, line);
    all.add(line);
    return line;
  };
  return {
    get: async (server, signal) => {
      const key = JSON.stringify(server);
      await unlessAborted(current.get(key)?.sure() ?? Promise.resolve(), signal);
      if (stopping.signal.aborted) throw new SessionProblem('the worker is stopping');
      return unlessAborted((current.get(key) ?? open(server, key)).ready, signal);
    },
    close: async () => {
      stopping.abort();
      await Promise.all([...all].map((line) => line.end()));
    },
  };
}

/** The connection is shared, so the end of one call must not end it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new SessionProblem('the MCP server was not ready within the time limit'));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
