import { isFinal, type TurnStatus, type TurnView } from '../contracts/turn.js';
import { turnStanding } from '../store/views/standing.js';
import { turnView } from '../store/views/turns.js';
import { BackOff } from './back-off.js';
import type { ClientContext } from './context.js';
import { notFound } from './errors.js';
import { isStoreAway } from './postgres-errors.js';

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

/** How long PostgreSQL may be away under a wait before its sender is told, in milliseconds: a restart, a failover of a pooler. */
const PATIENCE_MS = 5_000;

/**
 * Waits until a turn ends or needs a person. Between its looks (8 ms apart, growing by a quarter up to 250 ms, so
 * that a look comes at most about a quarter of the waited time too late) it holds no connection. An outage of PostgreSQL of up to 5 s is waited out.
 * @throws HoldfastError `not_found`; the signal's reason when aborted
 */
export async function waitForTurn(context: ClientContext, turnId: string, options: WaitOptions): Promise<Waited> {
  const deadline = Date.now() + options.timeoutMs;
  const backOff = new BackOff(8, 250, 1.25);
  let awaySince: number | null = null;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const seen = await look(context, turnId, Date.now() >= deadline);
      if (seen !== null) return seen;
      awaySince = null;
    } catch (error) {
      awaySince ??= Date.now();
      if (!isStoreAway(error) || Date.now() - awaySince > PATIENCE_MS || Date.now() >= deadline) throw error;
    }
    await backOff.wait(deadline, options.signal);
  }
}

/** One look; null: there is nothing to tell yet. `last`: the turn is told as it stands. */
async function look({ pool }: ClientContext, turnId: string, last: boolean): Promise<Waited | null> {
  const now = await turnStanding(pool, turnId);
  if (now === null) throw notFound('turn', turnId, 'turn list');
  const why = standingOf(now.status, now.behind !== null);
  if (why === 'open' && !last) return null;
  const turn = await turnView(pool, turnId);
  if (turn === null) throw notFound('turn', turnId, 'turn list');
  return { turn, why: why === 'open' ? 'timeout' : why, behind: why === 'behind' ? now.behind : null };
}
