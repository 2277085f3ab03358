import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { NEEDS_MIGRATION } from '../domain/failure.js';
import { store } from './activities.js';
import type { Session, TurnProgress } from './session.js';

/** How long a turn without a usable definition waits before it looks again by itself, and the longest such wait, in milliseconds (D35). */
const FIRST_LOOK_MS = 60_000;
const LONGEST_LOOK_MS = 3_600_000;

/**
 * Runs a step that needs the turn's pinned definition (D34). While no worker can use that, the turn waits as `needs_migration`: until it is
 * migrated, another worker comes, or a while has passed. Then the step is run again; nothing of it was done. Under a cancel it fails as it did.
 */
export async function withDefinition<T>(session: Session, key: string, step: () => Promise<T>): Promise<T> {
  for (let looks = 0; ; looks += 1) {
    const seen = session.definitions;
    try {
      const result = await step();
      if (looks > 0) session.noteStatus();
      return result;
    } catch (error) {
      const reason = migrationReason(error);
      if (reason === null || session.isCancelled()) throw error;
      const lookMs = Math.min(FIRST_LOOK_MS * 2 ** looks, LONGEST_LOOK_MS);
      await session.waitFor('needs_migration', key, reason, () => session.definitions !== seen, lookMs);
    }
  }
}

/** A local activity's failure comes as it is, that of an ordinary one in an `ActivityFailure`. */
function migrationReason(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === NEEDS_MIGRATION ? cause.message : null;
}

/** Opens a turn and begins it; null when it had ended, or was cancelled meanwhile. */
export async function openTurn(session: Session, turnId: string): Promise<TurnProgress | null> {
  session.opens(turnId);
  const open = () => session.activity(() => store.open({ turnId, ...session.ref }));
  const opened = await withDefinition(session, turnId, open).catch((error: unknown) => {
    // The record knows of the cancel now and answers it without the definition.
    if (session.isCancelled()) return open();
    throw error;
  });
  if (opened.ended === null) {
    return session.begin(opened);
  }
  session.opens(null);
  return null;
}
