import { settlementSchema, type LedgerEntryView, type Settlement } from '../contracts/ledger.js';
import type { SettleAnswer } from '../contracts/steps.js';
import { settleEntry } from '../store/ledger/settle.js';
import { entryRoute } from '../store/views/routes.js';
import { ledgerEntries, ledgerEntryView, unsettledKeys } from '../store/views/ledger.js';
import { RECONCILE_SWEEP, settleEffectUpdate } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { HoldfastError, notFound } from './errors.js';
import { freshUpdateId, hashedId } from './ids.js';
import { parseInput } from './parse.js';

type SettleRefusal = Extract<SettleAnswer, { result: 'refused' }>['code'];
const REFUSALS: readonly string[] = ['unknown_entry', 'stale_version', 'not_unknown', 'invalid_input', 'turn_finished', 'still_running'] satisfies SettleRefusal[];

/** Settles an unknown effect against the version that was seen (D16). A refusal is an answer, not an error. */
export async function settle(context: ClientContext, key: string, input: Settlement & { as: string }): Promise<SettleAnswer> {
  const { as, ...rest } = input;
  const settlement = parseInput(settlementSchema, rest, 'The settlement');
  const route = await entryRoute(context.pool, key);
  if (route === null) return refusal('unknown_entry', `There is no ledger entry ${JSON.stringify(key.slice(0, 300))}.`);
  if (!route.ended) {
    const id = freshUpdateId('settle');
    const handle = context.temporal.workflow.getHandle(route.workflowId);
    const outcome = await callTemporal(context, route.workflowId, () => handle.executeUpdate(settleEffectUpdate, { args: [{ key, ...settlement, as }], updateId: id }));
    if (outcome.kind === 'answered') return outcome.value;
    if (outcome.kind === 'refused') return refusal(isRefusal(outcome.code) ? outcome.code : 'invalid_input', outcome.message);
  }
  return settleEntry(context.pool, {
    key, version: settlement.version, outcome: settlement.outcome, externalId: settlement.externalId ?? null, reason: settlement.reason, by: as, workflowId: null,
  });
}

/**
 * Looks up one unsettled effect, or all of them, now (D15). The answer is each entry as it stands afterwards.
 * @throws HoldfastError `not_found`, `no_worker`, `unreachable`
 */
export async function reconcile(context: ClientContext, key?: string): Promise<LedgerEntryView[]> {
  if (key !== undefined && (await ledgerEntryView(context.pool, key)) === null) throw notFound('ledger entry', key, 'ledger list');
  const keys = key === undefined ? await unsettledKeys(context.pool) : [key];
  const workflowId = key === undefined ? 'holdfast/reconcile/all' : hashedId('holdfast/reconcile/one', key);
  const outcome = await callTemporal(context, workflowId, () =>
    context.temporal.workflow.execute(RECONCILE_SWEEP, {
      workflowId,
      taskQueue: context.taskQueue,
      args: [key === undefined ? {} : { key }],
      // Two operators at once share one sweep.
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowExecutionTimeout: '10 minutes',
    }),
  );
  if (outcome.kind !== 'answered') throw new HoldfastError('refused', outcome.kind === 'refused' ? outcome.message : 'The sweep ended before it answered. Run it again.');
  return ledgerEntries(context.pool, keys);
}

function isRefusal(code: string): code is SettleRefusal {
  return REFUSALS.includes(code);
}

function refusal(code: SettleRefusal, message: string): SettleAnswer {
  return { result: 'refused', code, message };
}
