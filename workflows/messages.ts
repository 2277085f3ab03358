import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CancelSignal, DecideSignal, InputSignal, SettleSignal } from '../contracts/signals.js';
import type {
  CancelAnswer, CancelInput, ConversationRef, ConversationState, DecideInput, DetachedRef, InputAnswer, InputRef, PendingApproval, SettleAnswer, SettleInput,
} from '../contracts/steps.js';
import type { DecisionAnswer } from '../contracts/approval.js';
import type { MigrateAnswer, MigrateInput } from '../contracts/migration.js';

/** Workflow types (I11). */
export const CONVERSATION = 'conversation';
export const CHILD_AGENT = 'childAgent';
export const DETACHED_WORK = 'detachedWork';
export const RECONCILE_SWEEP = 'reconcileSweep';

/** A workflow task that was lost with its worker is given to another one after this time, so that a turn goes on within 3 s (D1, D36). */
export const WORKFLOW_TASK_TIMEOUT = '2s';

/** How a detached turn is started from outside a workflow: one that runs already is left alone (D29, D30). */
export function detachedStart(ref: DetachedRef, taskQueue: string) {
  return { workflowId: ref.workflowId, taskQueue, args: [ref] as [DetachedRef], workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT, workflowIdConflictPolicy: 'USE_EXISTING' as const };
}

/**
 * Signals carry a person's input by hand, from the Temporal UI or any SDK (D5). Their payload is checked in an activity.
 * `ledgerChanged` tells a waiting turn that an entry was settled elsewhere (D15), `definitionsChanged` one that needs a migration that another
 * worker is there, which may know its definition (D34).
 */
export const inputSignal = defineSignal<[InputSignal]>('input');
export const decideSignal = defineSignal<[DecideSignal]>('decide');
export const cancelSignal = defineSignal<[CancelSignal]>('cancel');
export const settleSignal = defineSignal<[SettleSignal]>('settle');
export const definitionsChangedSignal = defineSignal('definitionsChanged');
export const ledgerChangedSignal = defineSignal<[{ key: string }]>('ledgerChanged');

/** The same as updates, which answer. Content of an input is stored by the sender first and travels by reference (D2). */
export const submitInputUpdate = defineUpdate<InputAnswer, [InputRef]>('submitInput');
export const submitDecisionUpdate = defineUpdate<DecisionAnswer, [DecideInput]>('submitDecision');
export const requestCancelUpdate = defineUpdate<CancelAnswer, [CancelInput]>('requestCancel');
export const settleEffectUpdate = defineUpdate<SettleAnswer, [SettleInput]>('settleEffect');

/** Moves an unfinished turn to another definition of its agent (D34). For operators, through the client. */
export const migrateTurnUpdate = defineUpdate<MigrateAnswer, [MigrateInput]>('migrateTurn');

export const stateQuery = defineQuery<ConversationState>('state');
export const pendingApprovalsQuery = defineQuery<PendingApproval[]>('pendingApprovals');

/** Everything a conversation keeps when it continues as new (D1). A first start carries only the reference. */
export interface ConversationStart extends ConversationRef {
  carried?: unknown;
}
