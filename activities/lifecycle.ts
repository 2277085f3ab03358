import { z } from 'zod';
import { cancelSignalSchema, settleSignalSchema } from '../contracts/signals.js';
import type { CancelAnswer, CancelInput, ConversationRef, EndTurn, OpenedTurn, SettleAnswer, SettleInput } from '../contracts/steps.js';
import type { FinalStatus, TurnStatus } from '../contracts/turn.js';
import { clampMessage } from '../domain/failure.js';
import { givenUp } from '../domain/recovery.js';
import { workflowIdOf } from '../domain/keys.js';
import { sha256Hex } from '../store/hash.js';
import { failCall } from '../store/ledger/finish-call.js';
import { giveUpUnsent, refuseEffect } from '../store/ledger/reconcile.js';
import { recoveryFacts } from '../store/ledger/recovery-facts.js';
import { settleEntry } from '../store/ledger/settle.js';
import { recordRefusal } from '../store/refusal.js';
import { openBudget } from '../store/turn/budget.js';
import { attachInput } from '../store/turn/attach.js';
import { requestCancel } from '../store/turn/cancel.js';
import { endTurn } from '../store/turn/end.js';
import { openTurn } from '../store/turn/open.js';
import { noteStatus } from '../store/turn/status.js';
import type { ActivityDeps } from './deps.js';

/** Starts a turn and pins its definition (D34). An id that names no input of this conversation is refused and recorded. */
export async function open(deps: ActivityDeps, input: ConversationRef & { turnId: string }): Promise<OpenedTurn> {
  const row = await openTurn(deps.pool, input);
  const base = { turnId: input.turnId, maxSteps: 0, windowSize: 0, modelTimeoutMs: 0, summaryTiming: null, deadlineMs: null };
  if (row === null) {
    const workflowId = workflowIdOf(input.agent, input.threadId, sha256Hex);
    await recordRefusal(deps.pool, { id: `${workflowId} ${input.turnId}`, workflowId, kind: 'input', message: `this conversation has no stored input ${input.turnId}` });
    return { ...base, ended: 'failed' };
  }
  if (row.ended !== null) return { ...base, ended: row.ended };
  if (row.definitionDigest === null) {
    const reason = 'no worker has published a definition of this agent';
    return { ...base, ended: await endTurn(deps.pool, input.turnId, 'failed', reason) };
  }
  if (row.cancelRequested) return { ...base, ended: await endTurn(deps.pool, input.turnId, 'cancelled', null) };
  const definition = await deps.definition(row.definitionDigest);
  const budget = definition.budget;
  const deadlineMs = budget === null ? row.deadlineMs : await openBudget(deps.pool, input.turnId, budget);
  return {
    turnId: input.turnId, ended: null, maxSteps: definition.maxSteps, windowSize: definition.memory.windowSize,
    modelTimeoutMs: definition.model.timeoutMs, summaryTiming: definition.summary?.timing ?? null, deadlineMs, mayUndo: definition.effects.some((effect) => effect.compensatedBy !== null),
  };
}

/** Does nothing. To schedule it puts what its workflow has decided so far into the history, which a local activity does not. */
export async function checkpoint(_deps: ActivityDeps, _input: Record<string, never>): Promise<void> {}

/** Ends a turn: messages, memory and outcome in one transaction. */
export async function end(deps: ActivityDeps, input: EndTurn): Promise<FinalStatus> {
  await deps.probe('before_report', input.turnId);
  return endTurn(deps.pool, input.turnId, input.status, input.reason === null ? null : clampMessage(input.reason));
}

export async function note(deps: ActivityDeps, input: { turnId: string; status: TurnStatus; reason: string | null }): Promise<void> {
  await noteStatus(deps.pool, input.turnId, input.status, input.reason);
}

/** Answers whether the waiting step `answerKey` has its answer now. */
export async function attach(deps: ActivityDeps, input: { inputId: string; into: string; beforeStep: number; answerKey: string | null }): Promise<boolean> {
  return attachInput(deps.pool, input.inputId, input.into, input.beforeStep, input.answerKey);
}

/**
 * A cancel is stored before it is acknowledged, so that nothing of the turn can begin afterwards (D27). Its form is checked here, whoever
 * sent it: an SDK's update reaches this unchecked.
 */
export async function cancel(deps: ActivityDeps, { workflowId, ...input }: CancelInput & { turnId: string; workflowId: string }): Promise<CancelAnswer> {
  const parsed = cancelSignalSchema.safeParse(input);
  if (!parsed.success) return { result: 'refused', message: z.prettifyError(parsed.error).slice(0, 500) };
  const by = deps.principal(parsed.data.as).user;
  const answer = await requestCancel(deps.pool, { turnId: input.turnId, workflowId, reason: clampMessage(parsed.data.reason ?? `cancelled by ${by}`) });
  if (answer === null) return { result: 'refused', message: `there is no turn ${input.turnId}` };
  if ('elsewhere' in answer) return { result: 'refused', message: `the turn runs in the workflow ${answer.elsewhere}; cancel there` };
  return { result: answer.cancelling ? 'cancelling' : 'already_ended', turnId: answer.turnId, status: answer.status };
}

/** A person's word on an unknown effect, with its reason kept as evidence (D16). Its form is checked like that of a cancel. */
export async function settle(deps: ActivityDeps, { workflowId, ...input }: SettleInput & { workflowId: string }): Promise<SettleAnswer> {
  const parsed = settleSignalSchema.safeParse(input);
  if (!parsed.success) return { result: 'refused', code: 'invalid_input', message: z.prettifyError(parsed.error).slice(0, 500) };
  const { key, version, outcome, externalId, reason, as } = parsed.data;
  return settleEntry(deps.pool, { key, version, outcome, externalId: externalId ?? null, reason, by: deps.principal(as).user, workflowId });
}

/** Gives up a call that is safe to repeat after its last attempt; the model is told why (D35). */
export async function giveUpCall(deps: ActivityDeps, input: { key: string; reason: string }): Promise<void> {
  await failCall(deps.pool, input.key, clampMessage(input.reason));
}

/** Gives up an effect of which no byte ever left: for a reason, or because of so many tries, of which the ledger knows the last one. */
export async function giveUpEffect(deps: ActivityDeps, input: { key: string } & ({ reason: string } | { tries: number })): Promise<{ settled: boolean }> {
  const reason = clampMessage('reason' in input ? input.reason : givenUp(input.tries, (await recoveryFacts(deps.pool, input.key)).lastNote));
  await refuseEffect(deps.pool, input.key, reason);
  return { settled: await giveUpUnsent(deps.pool, input.key, reason) };
}

