import type { CallRef, DetachedRef, EndTurn } from '../contracts/steps.js';
import { undoTruth, undoingText } from '../domain/closing.js';
import { effectOf } from '../domain/effect-of.js';
import { clampMessage } from '../domain/failure.js';
import { compensationEnd } from '../store/detached/compensation.js';
import { waitingCompensations } from '../store/detached/undo-by-policy.js';
import { refuseEffect } from '../store/ledger/reconcile.js';
import { endTurn } from '../store/turn/end.js';
import { loadCall, loadTurnContext } from '../store/turn/context.js';
import { effectRef } from './call-refs.js';
import type { ActivityDeps } from './deps.js';
import { schemaProblem } from './schema.js';

/** Compensations that the end of a turn has begun and that its workflow has to start (D29). */
export async function begunCompensations(deps: ActivityDeps, input: { turnId: string }): Promise<DetachedRef[]> {
  await deps.probe('after_end', input.turnId);
  return waitingCompensations(deps.pool, input.turnId);
}

/** The one call of a turn that undoes an effect; arguments that do not fit its schema end it before anybody is asked (D29). */
export async function openCompensation(deps: ActivityDeps, input: { turnId: string }): Promise<CallRef | null> {
  const { key, name } = await compensationEnd(deps.pool, input.turnId);
  const call = await loadCall(deps.pool, key);
  const { definitionDigest } = await loadTurnContext(deps.pool, input.turnId, { priorLimit: 0, fromStep: 1, workItems: 0 });
  const effect = effectOf(await deps.definition(definitionDigest), name);
  if (effect === undefined || call === null) throw new Error(`the effect ${name} is not in the definition ${definitionDigest}`);
  const problem = schemaProblem(effect.inputSchema, call.args);
  if (problem === null) return effectRef(effect, key, 0);
  await refuseEffect(deps.pool, key, `Its arguments cannot be used: ${problem}. They come from compensation.args of the effect "${name}".`);
  return null;
}

/** Ends a turn that undoes an effect, with what the ledger says about it (D28, D29). */
export async function endCompensation(deps: ActivityDeps, input: Pick<EndTurn, 'turnId'>): Promise<void> {
  const end = await compensationEnd(deps.pool, input.turnId);
  const done = end.state === 'succeeded' || (end.state === 'reconciled' && end.outcome === 'succeeded');
  await deps.probe('before_report', input.turnId);
  await endTurn(deps.pool, input.turnId, done ? 'completed' : 'failed', done ? null : clampMessage(undoTruth(end)), (status, why) => undoingText(status, why, end));
}
