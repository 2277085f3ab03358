import type { BudgetLimit, BudgetPolicy } from '../../contracts/budget.js';
import { refuseEffect } from '../ledger/reconcile.js';
import { inTransaction } from '../pool.js';
import type { Db, Pool } from '../pool.js';

/** A limit that a statement of the ledger ran into (D33). `owner`: the turn whose budget it is, this one or one above it. */
export interface BudgetHit {
  limit: BudgetLimit;
  owner: string;
}

/**
 * Gives a turn its budget, once, beside those that it has from the turns above it. `wallTimeMs` counts from the turn's first opening; the
 * earliest deadline of all counts. Answers the deadline, milliseconds since the epoch by the database's clock.
 */
export async function openBudget(db: Db, turnId: string, policy: BudgetPolicy): Promise<number | null> {
  const { rows } = await db.query<{ deadline: Date | null }>(
    `with fresh as (
       insert into holdfast.budget (turn_id, model_calls_limit, tokens_limit, cost_micros_limit, effects_limit) values ($1, $2, $3, $4, $5) on conflict do nothing returning turn_id
     ), marked as (
       update holdfast.turn t set budgets = coalesce(t.budgets, '{}') || t.turn_id,
         deadline_at = least(t.deadline_at, now() + $6 * interval '1 millisecond')
       from fresh where t.turn_id = fresh.turn_id returning t.deadline_at
     )
     select deadline_at as deadline from marked
     union all
     select deadline_at from holdfast.turn where turn_id = $1 and not exists (select from marked)`,
    [turnId, policy.modelCalls, policy.tokens, policy.costMicros, policy.effects, policy.wallTimeMs],
  );
  return rows[0]?.deadline?.getTime() ?? null;
}

/** Closes a budget whose limit was hit: nothing more of its tree begins, whatever it would use (D33). To be done before anybody is told of the refusal. */
export async function closeBudget(db: Db, hit: BudgetHit): Promise<void> {
  await db.query('update holdfast.budget set exceeded = $2 where turn_id = $1 and exceeded is null', [hit.owner, hit.limit]);
}

/**
 * Ends an effect for which no budget is left and closes that budget, together: an effect that is told as refused while its turn could go on would
 * hide the limit (D33).
 */
export async function refuseOverBudget(pool: Pool, key: string, hit: BudgetHit): Promise<void> {
  await inTransaction(pool, async (db) => {
    await refuseEffect(db, key, budgetText(hit));
    await closeBudget(db, hit);
  });
}

/** What the model is told of a call that a limit refused. */
export function budgetText({ limit }: BudgetHit): string {
  return `The budget is used up: ${limit}.`;
}

/** The limit that made the database refuse a statement, or null when the error is another one. */
export function budgetHit(error: unknown): BudgetHit | null {
  if (!hasCode(error, 'HF010')) return null;
  return { limit: error.detail as BudgetLimit, owner: error.hint ?? '' };
}

/** Whether calls that run now may still use up the budget, so that this one has to wait for them. */
export function budgetBusy(error: unknown): boolean {
  return hasCode(error, 'HF011');
}

function hasCode(error: unknown, code: string): error is Error & { detail?: string; hint?: string } {
  return error instanceof Error && 'code' in error && error.code === code;
}
