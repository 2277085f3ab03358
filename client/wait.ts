import { isFinal, type TurnStatus, type TurnView } from '../contracts/turn.js';
import { turnStanding } from '../store/views/standing.js';
import { turnView } from '../store/views/turns.js';
import { BackOff } from './back-off.js';
import type { ClientContext } from './context.js';
import { notFound } from './errors.js';

const PERSON: readonly TurnStatus[] = ['waiting_approval', 'waiting_input', 'waiting_review', 'waiting_unknown', 'needs_migration'];

/**
 * Why a wait ended. `person`: somebody has to decide, answer or settle. `behind`: the turn is queued behind one that waits for a
 * person (D16). `timeout`: none of these in time.
 */
export interface Waited {
  turn: TurnView;
  why: 'ended' | 'person' | 'behind' | 'timeout';
  /** The turn in front, when `why` is `behind`. */
  behind: { turnId: string; status: TurnStatus } | null;
}

export interface WaitOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Where a status leaves the sender. */
export function standingOf(status: TurnStatus, behind: boolean): Waited['why'] | 'open' {
  if (isFinal(status)) return 'ended';
  if (PERSON.includes(status)) return 'person';
  return behind ? 'behind' : 'open';
}

/**
 * Waits until a turn ends or needs a person. Between its looks (8 ms apart, growing by a quarter up to 250 ms, so
 * that a look comes at most about a quarter of the waited time too late) it holds no connection.
 * @throws HoldfastError `not_found`; the signal's reason when aborted
 */
export async function waitForTurn(context: ClientContext, turnId: string, options: WaitOptions): Promise<Waited> {
  const deadline = Date.now() + options.timeoutMs;
  const backOff = new BackOff(8, 250, 1.25);
  for (;;) {
    options.signal?.throwIfAborted();
    const now = await turnStanding(context.pool, turnId);
    if (now === null) throw notFound('turn', turnId, 'turn list');
    const why = standingOf(now.status, now.behind !== null);
    if (why !== 'open' || Date.now() >= deadline) {
      const turn = await turnView(context.pool, turnId);
      if (turn === null) throw notFound('turn', turnId, 'turn list');
      return { turn, why: why === 'open' ? 'timeout' : why, behind: why === 'behind' ? now.behind : null };
    }
    await backOff.wait(deadline, options.signal);
  }
}
