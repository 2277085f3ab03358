import type { ModelDefinition, ModelRequest } from '../contracts/model.js';
import { CallError } from '../domain/failure.js';
import { reserveOf } from '../domain/price.js';
import { claimCall } from '../store/ledger/claim-call.js';
import type { CallClaim, CallClaimed } from '../store/ledger/claim-call.js';
import { budgetBusy, budgetHit, closeBudget } from '../store/turn/budget.js';
import type { BudgetHit } from '../store/turn/budget.js';
import { pauseInCall } from './beat.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';

/** Waits between tries while calls that run now may still use up the budget, in milliseconds. */
const FIRST_WAIT_MS = 50;
const LAST_WAIT_MS = 1000;

export type PaidClaim = CallClaimed | ({ kind: 'over_budget' } & BudgetHit);

/**
 * Takes a call that is paid for, within the budgets of its turn and of those above it (D33). Near a limit calls run one after the other, so that
 * it is never overshot by more than one of them.
 */
export async function claimPaid(deps: ActivityDeps, claim: Omit<CallClaim, 'reserve'>, paid: { model: ModelDefinition; request: ModelRequest; hasBudget: boolean }): Promise<PaidClaim> {
  const reserve = paid.hasBudget ? reserveOf(paid.model, paid.request) : null;
  const until = performance.now() + claim.timeoutMs;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
    try {
      return await claimCall(deps.pool, { ...claim, reserve });
    } catch (error) {
      const hit = budgetHit(error);
      if (hit !== null) {
        await insist(() => closeBudget(deps.pool, hit));
        return { kind: 'over_budget', ...hit };
      }
      if (!budgetBusy(error)) throw error;
      if (performance.now() > until) throw new CallError('retryable', 'calls that run now may use up the budget; it was waited for them in vain');
    }
    await pauseInCall(waitMs);
  }
}
