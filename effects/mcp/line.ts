import type { McpTarget } from '../../contracts/effect.js';
import { faultOf } from './failure.js';
import { openSession, type McpContext, type Session } from './session.js';

/**
 * One connection to a server, from its opening to its end (D20). It is retired when it has ended, when its protocol was broken, or when it does
 * not answer a ping after a call that got no answer in time: then a later call gets a fresh one, and this one is ended as soon as no call of it runs.
 */
export interface Line {
  /** The session, when it is open. Rejects with `SessionProblem`. */
  ready: Promise<Session>;
  /** Resolves when a connection that is in doubt has answered or is retired. */
  sure(): Promise<void>;
  /** Ends it now, with the program behind it. */
  end(): Promise<void>;
}

interface Listeners {
  /** It takes no more calls. */
  retired(): void;
  ended(): void;
}

/** Opens a connection; `stopping` ends the attempt. */
export function openLine(context: McpContext, server: McpTarget['server'], listeners: Listeners, stopping: AbortSignal): Line {
  let running = 0;
  let isRetired = false;
  let checking: Promise<void> | null = null;
  let ending: Promise<void> | null = null;

  const opening = openSession(context, server, () => retire(), stopping);
  const end = (): Promise<void> => {
    ending ??= opening.then((session) => session.close()).catch(() => undefined).finally(listeners.ended);
    return ending;
  };
  const retire = (): void => {
    if (!isRetired) listeners.retired();
    isRetired = true;
    if (running === 0) void end();
  };
  const check = (session: Session): void => {
    checking ??= session.ping().catch(retire).finally(() => { checking = null; });
  };
  const watched = async <T>(session: Session, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    running += 1;
    try {
      return await work();
    } catch (error) {
      const fault = faultOf(error, signal);
      if (fault === 'spoilt') retire();
      if (fault === 'doubt' && !isRetired) check(session);
      throw error;
    } finally {
      running -= 1;
      if (isRetired && running === 0) void end();
    }
  };

  const ready = opening.then((session): Session => ({
    ...session,
    tool: (name, signal) => watched(session, signal, () => session.tool(name, signal)),
    call: (name, args, options) => watched(session, options.signal, () => session.call(name, args, options)),
  }));
  ready.catch(retire);
  return { ready, sure: () => checking ?? Promise.resolve(), end };
}
