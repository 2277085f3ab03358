import type { CallProgress, Carried, TurnProgress } from './session.js';

/** `T` without a promise that `K` is there: fields that came after the first build. */
type Later<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

type CarriedCall = Later<CallProgress, 'beforeMs' | 'permitUntilMs'>;
type CarriedTurn = Omit<Later<TurnProgress, 'deadlineMs' | 'overBudget' | 'mayUndo'>, 'calls'> & { calls: CarriedCall[] | null };

/** What a run of this build or of any earlier one carries to the next run (D1, D34). A field that is added later is optional here. */
export type CarriedState = Omit<Later<Carried, 'answers'>, 'running'> & { running: CarriedTurn | null };

/** The one place where carried state is read: what an older build did not write gets the value that means what that build did (D34). */
export function readCarried({ answers = [], running, ...rest }: CarriedState): Carried {
  return { ...rest, answers, running: running === null ? null : readTurn(running) };
}

function readTurn({ deadlineMs = null, overBudget = null, mayUndo = false, calls, ...rest }: CarriedTurn): TurnProgress {
  return { ...rest, deadlineMs, overBudget, mayUndo, calls: calls?.map(({ beforeMs = null, permitUntilMs = null, ...call }) => ({ ...call, beforeMs, permitUntilMs })) ?? null };
}
