import type { JsonObject } from './json.js';
import type { BudgetLimit } from './budget.js';
import type { ApprovalState, DecisionAnswer } from './approval.js';
import type { EntryKind } from './ledger.js';
import type { FinalStatus, InputMode, TurnStatus } from './turn.js';

/**
 * What passes between workflow and activities: control flow and references, never content (D8). Every shape here is
 * part of recorded histories: fields may be added, never renamed (D34).
 */

/** A conversation, as in its workflow id (D1). */
export interface ConversationRef {
  agent: string;
  threadId: string;
}

/** Limits and switches of a turn that control flow needs, from its pinned definition. */
export interface OpenedTurn {
  turnId: string;
  /** Set when the turn had already ended (a repeated open after a crash) or was cancelled before it began. */
  ended: FinalStatus | null;
  maxSteps: number;
  /** Messages of the window (C3); bounds what each model call reads. */
  windowSize: number;
  /** Limit of one model call in milliseconds. */
  modelTimeoutMs: number;
  summaryTiming: 'before_finalize' | 'turn_end' | null;
  /** When the turn runs out of time (D33), milliseconds since the epoch; absent in older histories. */
  deadlineMs?: number | null;
  /** Its end may begin to undo effects (D29). */
  mayUndo?: boolean;
}

/** One call of a model reply. */
export interface CallRef {
  key: string;
  index: number;
  kind: Extract<EntryKind, 'effect' | 'child' | 'input'>;
  name: string;
  /** A child that is an agent runs as a workflow of its own. */
  childAgent: boolean;
  /** It outlives this turn and is only begun by it (D30). */
  detached?: boolean;
  /** A child that is a remote agent: what it was told to do goes on without us, and is ended after a cancel (D27). */
  remote?: boolean;
  sequential: boolean;
  needsApproval: boolean;
  /** A target condition is checked right before each dispatch (D25). */
  hasPrecondition: boolean;
  /** Limit of one physical call in milliseconds. */
  timeoutMs: number;
  /** Summarise the result when the call has succeeded (W7). */
  summarize: boolean;
  /** Calls of the effect that one worker runs at once (D27); absent: no limit. */
  maxConcurrent?: number;
}

export interface ModelStepInput {
  turnId: string;
  step: number;
  windowSize: number;
  timeoutMs: number;
  /** Why the previous reply could not be used; told to the model (D7). */
  correction: ReplyProblem | null;
}

/** Named ways in which a reply cannot be used (D7). */
export type ReplyProblem = 'refused' | 'blank' | 'cut_off' | 'invalid_calls';

/**
 * `over_budget`: nothing was asked, because a limit of this turn's tree is hit (D33).
 * `calls`: run these; `invalid` counts calls that were refused before running (their results are already stored).
 * `final`: the reply is the answer. `unusable`: nothing of it may be used.
 */
export type ModelStepResult =
  | { kind: 'calls'; calls: CallRef[]; invalid: number }
  | { kind: 'final' }
  | { kind: 'over_budget'; limit: BudgetLimit }
  | { kind: 'unusable'; problem: Exclude<ReplyProblem, 'invalid_calls'> };

export interface ProposalRef {
  approvalId: string;
  version: number;
  hash: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/**
 * How an effect that asks for approval stands. `proposed`: it waits for its decision. `approved`: it was decided in an earlier run, and nothing was
 * sent yet. `begun`: it was sent in an earlier run and its outcome is open, so look before anything else (D13). `refused`: it is settled, for
 * instance because its preview could not be made; nothing is shown, nothing runs.
 */
export type ProposeResult = { kind: 'proposed'; proposal: ProposalRef } | { kind: 'approved' } | { kind: 'begun' } | { kind: 'refused' };

/**
 * Outcome of one try to perform an effect. `settled`: the entry is in a final state. `no_permit`: nothing was begun, as many calls as may run are
 * running. `not_sent`: no byte left.
 * `uncertain`: it may have had its effect; look before anything else (D13).
 */
export type EffectOutcome =
  | { kind: 'settled'; overBudget?: BudgetLimit }
  | { kind: 'no_permit' }
  | { kind: 'not_sent'; retryAfterMs: number }
  | { kind: 'uncertain'; retryAfterMs: number };

/** What the reconcile activity found out and what may follow (D13, D15). */
export type ReconcileResult =
  | { kind: 'settled' }
  | { kind: 'redispatch'; generation: number | null; afterMs: number; beforeMs: number | null }
  | { kind: 'look_again'; afterMs: number }
  | { kind: 'unknown'; lookAgainMs: number | null };

export interface PerformInput {
  key: string;
  /** Set for a redispatch: the generation that the look-up judged (D17). */
  generation: number | null;
  /** Nothing may be sent after this time, milliseconds since the epoch by the database's clock: the target has forgotten the key then (D13). */
  beforeMs: number | null;
  timeoutMs: number;
  hasPrecondition: boolean;
  /** Set where one worker runs only so many calls of the effect at once (D27). */
  permit?: { effect: string; max: number };
}

/** A child agent that was started for a call: its own conversation, its own turn (D32). */
export interface ChildRef extends ConversationRef {
  turnId: string;
  workflowId: string;
}

/** A turn that runs by itself, in a workflow that no other one ends (D29, D30). */
export interface DetachedRef extends ChildRef {
  /** Its only step is an effect that undoes another one. */
  undoes: boolean;
}

export interface EndTurn {
  turnId: string;
  status: FinalStatus;
  reason: string | null;
}

export interface AcceptedInput {
  turnId: string;
  status: TurnStatus;
}

/** An input that passed its checks and is stored; `turnId` is also its id when it becomes part of another turn. */
export interface InputRef {
  turnId: string;
  mode: InputMode;
}

/** What `submitInput` answers: `intoTurnId` differs from `turnId` when the input became part of a running turn (D4). */
export interface InputAnswer {
  turnId: string;
  intoTurnId: string;
}

export interface DecideInput {
  approvalId: string;
  hash: string;
  decision: 'approve' | 'reject' | 'edit';
  /** Arguments of an edit as JSON text, so that nothing changes its numbers or order on the way. */
  argsJson?: string;
  /** The same as an object, for senders without this library (I11). */
  args?: JsonObject;
  reason?: string;
  as?: string;
  /** The conversation that was asked; it decides about its own proposals only. Set by the workflow. */
  workflowId?: string;
}

/** What became of a proposal at its deadline; `proposal` is the version that still waits, for `leftMs` more by the database's clock. */
export interface ExpireResult {
  state: ApprovalState;
  proposal: ProposalRef | null;
  leftMs?: number;
}

export interface DecideResult {
  answer: DecisionAnswer;
  /** Set by an edit: the version to be approved now. */
  proposal: ProposalRef | null;
}

export interface CancelInput {
  /** Absent: the running turn. */
  turnId?: string;
  reason?: string;
  as?: string;
  /** The conversation that was asked; it cancels its own turns only. Set by the workflow. */
  workflowId?: string;
}

export type CancelAnswer = { result: 'cancelling' | 'already_ended'; turnId: string; status: TurnStatus } | { result: 'refused'; message: string };

export interface SettleInput {
  key: string;
  version: number;
  outcome: 'succeeded' | 'failed' | 'retry';
  externalId?: string;
  reason: string;
  as?: string;
  /** The conversation that was asked; it settles its own entries only. Set by the workflow. */
  workflowId?: string;
}

export type SettleAnswer =
  | { result: 'settled' | 'retrying'; key: string; version: number; generation: number }
  | { result: 'refused'; code: 'unknown_entry' | 'stale_version' | 'not_unknown' | 'invalid_input' | 'turn_finished' | 'still_running'; message: string };

/** One approval in the answer of the query `pendingApprovals`. */
export interface PendingApproval extends ProposalRef {
  turnId: string;
  key: string;
  effect: string;
}

/** Answer of the query `state`. */
export interface ConversationState {
  agent: string;
  threadId: string;
  running: { turnId: string; status: TurnStatus; step: number } | null;
  queued: string[];
  unknownEffects: string[];
}
