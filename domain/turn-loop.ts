import type { BudgetLimit } from '../contracts/budget.js';
import type { CallRef, ModelStepResult, ReplyProblem } from '../contracts/steps.js';
import type { FinalStatus } from '../contracts/turn.js';

/**
 * The model loop as a state machine without IO (D6, D7). Rules:
 * 1. At most `maxSteps` model calls, corrections included; then the turn is `failed` with the reason `max_steps`.
 * 2. An unusable reply is answered by a correction, at most `CORRECTIONS` in a row; then the turn fails under the problem's name.
 *    A refusal is corrected once: asking again and again changes nothing.
 * 3. A reply whose calls were all refused counts as a correction; a usable reply ends the row.
 */
export const CORRECTIONS: Record<ReplyProblem, number> = { refused: 1, blank: 2, cut_off: 2, invalid_calls: 2 };

/** Named reasons of a failed turn. */
export const FAILURE_REASON: Record<ReplyProblem, string> = {
  refused: 'model_refused',
  blank: 'model_reply_blank',
  cut_off: 'model_reply_cut_off',
  invalid_calls: 'model_calls_invalid',
};

export interface LoopState {
  /** Model calls made so far; the next one has the number `step + 1`. */
  step: number;
  /** Replies in a row that could not be used. */
  corrections: number;
  correction: ReplyProblem | null;
}

export type LoopNext =
  | { do: 'run_calls'; calls: CallRef[]; state: LoopState }
  | { do: 'ask_again'; state: LoopState }
  | { do: 'finish' }
  | { do: 'end'; status: FinalStatus; reason: string };

export const LOOP_START: LoopState = { step: 0, corrections: 0, correction: null };

/** Whether another model call may be made. */
export function mayAsk(state: LoopState, maxSteps: number): boolean {
  return state.step < maxSteps;
}

export function afterReply(state: LoopState, reply: ModelStepResult): LoopNext {
  if (reply.kind === 'final') return { do: 'finish' };
  if (reply.kind === 'over_budget') return { do: 'end', ...budgetEnd(reply.limit) };
  const problem: ReplyProblem | null = reply.kind === 'unusable' ? reply.problem : reply.calls.length === 0 ? 'invalid_calls' : null;
  if (problem !== null) {
    const corrections = state.corrections + 1;
    if (corrections > CORRECTIONS[problem]) return { do: 'end', status: 'failed', reason: FAILURE_REASON[problem] };
    return { do: 'ask_again', state: { ...state, corrections, correction: problem } };
  }
  const calls = reply.kind === 'calls' ? reply.calls : [];
  return { do: 'run_calls', calls, state: { ...state, corrections: 0, correction: null } };
}

/** How a turn ends that has hit a limit (D33): `expired` when its time is over, else `budget_exceeded`; the limit is the reason. */
export function budgetEnd(limit: BudgetLimit): { status: FinalStatus; reason: BudgetLimit } {
  return { status: limit === 'wall_time' ? 'expired' : 'budget_exceeded', reason: limit };
}

/** Batches of calls in the order of the reply: a sequential call runs alone, neighbours without that wish run in parallel (D6). */
export function batches<T extends { sequential: boolean }>(calls: T[]): T[][] {
  const result: T[][] = [];
  let open = false;
  for (const call of calls) {
    if (open && !call.sequential) result.at(-1)!.push(call);
    else result.push([call]);
    open = !call.sequential;
  }
  return result;
}
