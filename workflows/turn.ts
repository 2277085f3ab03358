import { ActivityFailure, CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { CallRef, ModelStepResult } from '../contracts/steps.js';
import type { FinalStatus } from '../contracts/turn.js';
import { modelKey } from '../domain/keys.js';
import { afterReply, batches, budgetEnd, mayAsk } from '../domain/turn-loop.js';
import { checkpoint, repeatable, store } from './activities.js';
import { runCall } from './calls.js';
import { withDefinition } from './definition.js';
import { startCompensations } from './detached.js';
import { Rollover } from './session.js';
import type { CallProgress, Session, TurnProgress } from './session.js';

interface Ending {
  status: FinalStatus;
  reason: string | null;
}

/** Runs one turn from its stored input to its one end (D6). `scope` is cancelled when the turn is (D27). */
export async function runTurn(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<FinalStatus> {
  const clock = startClock(turn, scope);
  const ending = await modelLoop(session, turn, scope).finally(() => clock.cancel());
  if (ending.status === 'completed' && turn.summaryTiming === 'turn_end') await summarizeAll(session, turn, scope);
  await session.noted();
  // The cancel must be in the history before the record says that the turn has ended, or a lost workflow task would forget it (D31).
  if (ending.status === 'cancelled') await session.activity(() => checkpoint('the turn was cancelled'));
  const status = await session.activity(() => store.end({ turnId: turn.turnId, ...ending }));
  if (turn.mayUndo && status !== 'completed') await session.activity(() => startCompensations(turn.turnId));
  return status;
}

/** When the turn's time is over nothing more of it begins, and what runs is interrupted, as by a cancel (D33). */
function startClock(turn: TurnProgress, scope: CancellationScope): CancellationScope {
  const clock = new CancellationScope();
  const { deadlineMs } = turn;
  if (deadlineMs === null || turn.cancelled) return clock;
  clock.run(() => sleep(Math.max(1, deadlineMs - Date.now()))).then(
    () => {
      turn.overBudget ??= 'wall_time';
      turn.cancelled = true;
      scope.cancel();
    },
    () => undefined,
  );
  return clock;
}

async function modelLoop(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<Ending> {
  for (;;) {
    if (turn.calls !== null) await runCalls(session, turn, turn.calls, scope);
    if (turn.overBudget !== null) return budgetEnd(turn.overBudget);
    if (turn.cancelled) return { status: 'cancelled', reason: null };
    if (session.mustRollOver()) throw new Rollover();
    if (!mayAsk(turn.loop, turn.maxSteps)) return { status: 'failed', reason: 'max_steps' };
    const seen = session.definitions;
    const reply = await askModel(session, turn, scope);
    if ('status' in reply) return reply;
    const next = afterReply(turn.loop, reply);
    if (next.do === 'finish') return { status: 'completed', reason: null };
    if (next.do === 'end') return { status: next.status, reason: next.reason };
    turn.loop = next.state;
    if (next.do === 'run_calls') turn.calls = next.calls.map((ref) => newCall(ref, session.definitions !== seen));
  }
}

/** A migration during the model's call may have given the effect a target condition that the reply's references do not know of: it is asked for then (D25, D34). */
export function newCall(ref: CallRef, migrated: boolean): CallProgress {
  const hasPrecondition = ref.hasPrecondition || (migrated && ref.needsApproval);
  return { ref: { ...ref, hasPrecondition }, phase: 'start', proposal: null, generation: null, beforeMs: null, unsent: 0, permitUntilMs: null };
}

async function askModel(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<ModelStepResult | Ending> {
  const step = turn.loop.step + 1;
  for (const inputId of session.steered.splice(0)) {
    await session.activity(() => store.attach({ inputId, into: turn.turnId, beforeStep: step, answerKey: null }));
  }
  turn.loop = { ...turn.loop, step };
  try {
    return await withDefinition(session, modelKey(turn.turnId, step), () => {
      const { windowSize, modelTimeoutMs: timeoutMs } = turn;
      const input = { turnId: turn.turnId, step, windowSize, timeoutMs, correction: turn.loop.correction };
      return session.activity(() => scope.run(() => repeatable(timeoutMs, `model call, step ${step}`).callModel(input)));
    });
  } catch (error) {
    if (error instanceof Rollover) {
      // The next run asks for this step, not for the one after it.
      turn.loop = { ...turn.loop, step: step - 1 };
      throw error;
    }
    if (turn.overBudget !== null) return budgetEnd(turn.overBudget);
    if (isCancellation(error) || turn.cancelled) return { status: 'cancelled', reason: null };
    return { status: 'failed', reason: `model_unavailable: ${failureText(error)}` };
  }
}

/** Calls of one reply: in parallel, except those that ask to be alone. Each ends with exactly one result (D6). */
export async function runCalls(session: Session, turn: TurnProgress, calls: CallProgress[], scope: CancellationScope): Promise<void> {
  for (const batch of batches(calls.map((call) => ({ call, sequential: call.ref.sequential })))) {
    const ends = await Promise.allSettled(batch.map(({ call }) => runCall(session, turn, call, scope)));
    const failed = ends.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
  // In call order, whichever of them ended first (W8).
  if (turn.summaryTiming === 'turn_end') turn.toSummarize.push(...calls.filter(({ ref }) => ref.summarize).map(({ ref }) => ref.key));
  turn.calls = null;
}

async function summarizeAll(session: Session, turn: TurnProgress, scope: CancellationScope): Promise<void> {
  for (const key of turn.toSummarize.splice(0)) await summarizeCall(session, key, scope);
}

/** Summaries fail softly: the turn goes on without them (W6). */
export async function summarizeCall(session: Session, key: string, scope: CancellationScope): Promise<void> {
  const timeoutMs = 60_000;
  try {
    await session.activity(() => scope.run(() => repeatable(timeoutMs, `summary of ${key}`).summarize({ key, timeoutMs })));
  } catch (error) {
    await session.activity(() => store.giveUpCall({ key: `${key}.s`, reason: failureText(error) }));
  }
}

export function failureText(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
