import type { McpTarget } from '../../contracts/effect.js';
import { openSession, SessionProblem, type McpContext, type Session } from './session.js';

/** Connections of one worker, one for each server. */
export interface Sessions {
  /** The open connection, or a new one where there is none or it has ended. Throws `SessionProblem`, also when `signal` comes first. */
  get(server: McpTarget['server'], signal: AbortSignal): Promise<Session>;
  /** The next `get` connects anew; calls that are on their way over the old connection are left alone. */
  forget(server: McpTarget['server']): void;
  /** Ends all connections and the programs behind them. */
  close(): Promise<void>;
}

export function createSessions(context: McpContext): Sessions {
  const open = new Map<string, Promise<Session>>();
  const stopping = new AbortController();
  return {
    get: (server, signal) => {
      if (stopping.signal.aborted) throw new SessionProblem('the worker is stopping');
      const key = JSON.stringify(server);
      const known = open.get(key);
      if (known !== undefined) return unlessAborted(known, signal);
      const forget = (): void => { if (open.get(key) === opening) open.delete(key); };
      const opening: Promise<Session> = openSession(context, server, () => forget(), stopping.signal);
      open.set(key, opening);
      opening.catch(forget);
      return unlessAborted(opening, signal);
    },
    forget: (server) => void open.delete(JSON.stringify(server)),
    close: async () => {
      stopping.abort();
      await Promise.all([...open.values()].map(async (opening) => (await opening).close()).map((closing) => closing.catch(() => undefined)));
    },
  };
}

/** The connection is shared, so the end of one call must not end it. */
async function unlessAborted(opening: Promise<Session>, signal: AbortSignal): Promise<Session> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new SessionProblem('the MCP server was not ready within the time limit'));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([opening, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
