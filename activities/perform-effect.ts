import { randomUUID } from 'node:crypto';
import type { EffectDefinition } from '../contracts/effect.js';
import type { InLedger } from '../contracts/sql.js';
import type { EffectOutcome, PerformInput } from '../contracts/steps.js';
import { effectOf } from '../domain/effect-of.js';
import { CallError } from '../domain/failure.js';
import type { EffectCall, PerformResult } from '../effects/types.js';
import { inLedger } from '../store/application/in-ledger.js';
import { digestOf } from '../store/hash.js';
import { claimEffect } from '../store/ledger/claim-effect.js';
import type { EffectClaim, EffectClaimed } from '../store/ledger/claim-effect.js';
import { giveUpUnsent, hasHadNoEffect, refuseEffect } from '../store/ledger/reconcile.js';
import { recordEffect } from '../store/ledger/record-effect.js';
import { budgetHit, refuseOverBudget } from '../store/turn/budget.js';
import type { BudgetHit } from '../store/turn/budget.js';
import { loadCall } from '../store/turn/context.js';
import { callSignal } from './beat.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';
import { FINAL, recordOf, recordResult, recordWhenEnded } from './record-result.js';

/** How long a call waits for a permit before its step asks again, in milliseconds; below the time limit of every activity. */
const PERMIT_WAIT_MS = 10_000;

/**
 * One try to perform an effect: claim (fenced and committed), call, record (D10). It never tries twice: what follows an uncertain end is decided
 * by the reconcile activity. The call's deadline counts from before the claim, so that no call is on its way after the entry says so (D15).
 */
export async function performEffect(deps: ActivityDeps, input: PerformInput): Promise<EffectOutcome> {
  if (input.permit === undefined) return performNow(deps, input, () => undefined);
  const release = await deps.permits.take(input.permit.effect, input.permit.max, callSignal(PERMIT_WAIT_MS));
  if (release === null) return { kind: 'no_permit' };
  let last: Promise<unknown> = Promise.resolve();
  try {
    return await performNow(deps, input, (late) => { last = late; });
  } finally {
    void last.finally(release);
  }
}

/** `goesOn` is told of work that has not ended with its call. */
async function performNow(deps: ActivityDeps, input: PerformInput, goesOn: (late: Promise<unknown>) => void): Promise<EffectOutcome> {
  if (input.hasPrecondition && !(await preconditionHolds(deps, input.key))) return { kind: 'settled' };
  await deps.probe('before_dispatch', input.key);
  const deadline = performance.now() + input.timeoutMs;
  const physicalCallId = randomUUID();
  const claim = await claimWithinBudget(deps, { key: input.key, generation: input.generation, beforeMs: input.beforeMs, physicalCallId, timeoutMs: input.timeoutMs });
  if (claim.kind === 'over_budget') return { kind: 'settled', overBudget: claim.limit };
  if (claim.kind === 'refused') return FINAL.has(claim.state) || claim.cancelled ? { kind: 'settled' } : { kind: 'uncertain', retryAfterMs: 0 };
  await deps.probe('after_dispatch', input.key);
  const effect = await definedEffect(deps, claim, input.key, physicalCallId);
  const { result, recorded } = await perform(deps, effect, input.key, claim, physicalCallId, deadline);
  if (result.kind === 'uncertain' && result.late !== undefined) goesOn(recordWhenEnded(deps, { key: input.key, generation: claim.generation, physicalCallId }, result.late));
  await deps.probe('after_effect', input.key);
  const outcome: EffectOutcome = recorded ? { kind: 'settled' } : await insist(() => recordResult(deps, { key: input.key, generation: claim.generation, physicalCallId }, result));
  await deps.probe('after_record', input.key);
  return outcome;
}

/** An effect for which no budget is left is not done; its turn ends (D33). */
async function claimWithinBudget(deps: ActivityDeps, claim: EffectClaim): Promise<EffectClaimed | ({ kind: 'over_budget' } & BudgetHit)> {
  try {
    return await claimEffect(deps.pool, claim);
  } catch (error) {
    const hit = budgetHit(error);
    if (hit === null) throw error;
    await insist(() => refuseOverBudget(deps.pool, claim.key, hit));
    return { kind: 'over_budget', ...hit };
  }
}

type Claim = Extract<EffectClaimed, { kind: 'claimed' }>;

/** A definition that this build cannot use: nothing was sent, which is recorded, and the turn waits for its migration (D34). */
async function definedEffect(deps: ActivityDeps, claim: Claim, key: string, physicalCallId: string): Promise<EffectDefinition | undefined> {
  try {
    return effectOf(await insist(() => deps.definition(claim.definitionDigest)), claim.name);
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    await recordEffect(deps.pool, recordOf({ key, generation: claim.generation, physicalCallId }, { kind: 'not_sent', message: note, retryAfterMs: null }));
    throw error;
  }
}

/** `recorded`: the ledger has it already, by the commit of the effect itself (D18). */
interface Performed {
  result: PerformResult;
  recorded: boolean;
}

async function perform(
  deps: ActivityDeps, effect: EffectDefinition | undefined, key: string, claim: Claim, physicalCallId: string, deadline: number,
): Promise<Performed> {
  if (effect === undefined) return unrecorded({ kind: 'rejected', result: null, message: `the effect ${claim.name} is not in the turn's definition` });
  if (digestOf(claim.args) !== claim.argsDigest) return unrecorded({ kind: 'rejected', result: null, message: 'the stored arguments are not the ones that were recorded; nothing was sent' });
  await deps.probe('before_send', key);
  const left = Math.floor(deadline - performance.now());
  if (left <= 0) return unrecorded({ kind: 'not_sent', message: 'the worker was held up until the time for the call had passed', retryAfterMs: null });
  const signal = AbortSignal.timeout(left);
  let recorded = false;
  const ledger: InLedger = async (work) => {
    const limits = { timeoutMs: left, signal };
    const attempt = await inLedger(deps.statements, { key, generation: claim.generation, physicalCallId }, limits, async (sql) => {
      const judged = await work(sql);
      await deps.probe('in_transaction', key);
      return judged;
    });
    recorded = attempt.kind === 'ended' && attempt.value.kind === 'succeeded';
    return attempt;
  };
  const result = await guarded(deps, effect, { effect, key, physicalCallId, args: claim.args }, signal, ledger);
  return { result, recorded };
}

function unrecorded(result: PerformResult): Performed {
  return { result, recorded: false };
}

/** An adapter that throws in spite of its contract leaves the outcome open, unless it says that nothing was sent. */
async function guarded(deps: ActivityDeps, effect: EffectDefinition, call: EffectCall, signal: AbortSignal, ledger: InLedger): Promise<PerformResult> {
  try {
    return await deps.adapterOf(effect).perform(call, signal, ledger);
  } catch (error) {
    if (error instanceof CallError && error.failure === 'terminal') return { kind: 'rejected', result: null, message: error.message };
    return { kind: 'uncertain', message: error instanceof Error ? error.message : String(error), retryAfterMs: null };
  }
}

/**
 * Checks the target condition right before a call of which no earlier one can have had its effect (D25). When it no longer holds, nothing runs
 * and the turn says why. Another resend is not checked: its own earlier call may be what changed the target.
 */
async function preconditionHolds(deps: ActivityDeps, key: string): Promise<boolean> {
  if (!(await hasHadNoEffect(deps.pool, key))) return true;
  const entry = await loadCall(deps.pool, key);
  if (entry === null) throw new Error(`effect ${key} is not stored`);
  const effect = effectOf(await deps.definition(entry.definitionDigest), entry.name);
  if (effect === undefined) return true;
  const check = await deps.adapterOf(effect).precondition({ effect, key, physicalCallId: '', args: entry.args }, AbortSignal.timeout(effect.timeoutMs));
  if (check.holds) return true;
  await refuseEffect(deps.pool, key, check.message);
  return !(await giveUpUnsent(deps.pool, key, check.message));
}
