import type { EffectDefinition } from '../contracts/effect.js';
import type { ReconcileResult } from '../contracts/steps.js';
import { effectOf } from '../domain/effect-of.js';
import { clampMessage } from '../domain/failure.js';
import { decideRecovery, givenUp } from '../domain/recovery.js';
import type { RecoveryDecision } from '../domain/recovery.js';
import { capabilitiesOf } from '../effects/capabilities.js';
import type { EffectAdapter, LookupResult } from '../effects/types.js';
import { leftBehind } from '../store/detached/queued.js';
import { addEvidence, giveUpUnsent, markAbsent, markUnknown, openEffects, settleFound } from '../store/ledger/reconcile.js';
import { recoveryFacts } from '../store/ledger/recovery-facts.js';
import type { RecoveryRow } from '../store/ledger/recovery-facts.js';
import { usableDefinition } from './deps.js';
import type { ActivityDeps } from './deps.js';
import { toFailure } from './failure.js';

const LOOKUP_TIMEOUT_MS = 10_000;

/** Physical calls of one effect that recovery makes by itself; then a person decides (D35). */
const MAX_DISPATCHES = 8;

/** Entries that one sweep looks at, detached turns that it starts, and the time after which it leaves the rest to the next one, in milliseconds. */
const SWEEP_LIMIT = 100;
const SWEEP_MS = 25_000;

/** Looks before anything else is done for an effect whose outcome is open, keeps what it saw, and says what may follow (D13, D15). */
export async function reconcileEffect(deps: ActivityDeps, input: { key: string; by: string }): Promise<ReconcileResult> {
  const row = await recoveryFacts(deps.pool, input.key);
  if (row.state === 'pending') return { kind: 'redispatch', generation: null, afterMs: 0, beforeMs: null };
  if (!isOpen(row)) return { kind: 'settled' };
  // Every try is proven to have had no effect (a connection was refused): there is nothing to look up.
  if (row.triesMade === 0) return { kind: 'redispatch', generation: row.generation, afterMs: 0, beforeMs: null };
  // It cannot be looked up any more: that is for the person who settles it, not for a migration (D16, D34).
  if (row.state === 'unknown' && (await usableDefinition(deps, row.definitionDigest)) === null) return { kind: 'unknown', lookAgainMs: null };
  const { effect, adapter } = await targetOf(deps, row);
  const found = await lookUp(deps, adapter, effect, row, input.by);
  const decision = decideRecovery({
    capabilities: capabilitiesOf(effect), lookEveryMs: effect.lookup?.everyMs ?? null, unknownPolicy: effect.unknown,
    approvalAttempts: effect.approval?.attempts ?? null, facts: { ...row, lookup: found?.kind ?? null },
  });
  return apply(deps, row, decision, found, effect.lookup?.everyMs ?? null);
}

/**
 * Looks up open effects whose calls have ended; records what was found and wakes their conversations. It never dispatches (D15). By schedule it
 * also starts detached turns that were left behind when what began them ended (D29, D30).
 */
export async function sweepEffects(deps: ActivityDeps, input: { key?: string; by: string }): Promise<{ looked: number }> {
  if (input.key === undefined) await startLeftBehind(deps);
  const entries = input.key === undefined ? await openEffects(deps.pool, SWEEP_LIMIT) : [{ key: input.key }];
  const until = performance.now() + SWEEP_MS;
  let looked = 0;
  for (const { key } of entries) {
    if (performance.now() > until) break;
    looked += 1;
    await sweepOne(deps, key, input.by).catch((error: unknown) => {
      if (input.key !== undefined) throw error;
      deps.log.warn({ key, error: toFailure(error).message }, 'an open effect could not be looked at; the sweep goes on with the others');
    });
  }
  return { looked };
}

async function startLeftBehind(deps: ActivityDeps): Promise<void> {
  for (const ref of await leftBehind(deps.pool, SWEEP_LIMIT)) {
    await deps.startDetached(ref).catch((error: unknown) => {
      deps.log.warn({ turnId: ref.turnId, error: toFailure(error).message }, 'a detached turn could not be started; the next sweep tries again');
    });
  }
}

async function sweepOne(deps: ActivityDeps, key: string, by: string): Promise<void> {
  const row = await recoveryFacts(deps.pool, key);
  if (!isOpen(row)) return;
  const { effect, adapter } = await targetOf(deps, row);
  const found = await lookUp(deps, adapter, effect, row, by);
  if (found?.kind !== 'found') return;
  if (await settleFound(deps.pool, key, row.generation, found.externalId, found.result)) await deps.ledgerChanged(row.workflowId, key);
}

function isOpen(row: RecoveryRow): boolean {
  return row.state === 'dispatched' || row.state === 'unknown';
}

async function targetOf(deps: ActivityDeps, row: RecoveryRow): Promise<{ effect: EffectDefinition; adapter: EffectAdapter }> {
  const effect = effectOf(await deps.definition(row.definitionDigest), row.name);
  if (effect === undefined) throw new Error(`the effect ${row.name} is not in the turn's definition`);
  return { effect, adapter: deps.adapterOf(effect) };
}

async function lookUp(deps: ActivityDeps, adapter: EffectAdapter, effect: EffectDefinition, row: RecoveryRow, by: string): Promise<LookupResult | null> {
  if (effect.lookup === null) return null;
  const found = await adapter.lookup({ effect, key: row.key, physicalCallId: '', args: row.args }, AbortSignal.timeout(LOOKUP_TIMEOUT_MS));
  await addEvidence(deps.pool, { key: row.key, by, found: found.kind, note: clampMessage(found.note) });
  return found;
}

async function apply(deps: ActivityDeps, row: RecoveryRow, decision: RecoveryDecision, found: LookupResult | null, lookAgainMs: number | null): Promise<ReconcileResult> {
  switch (decision.action) {
    case 'settle_found': {
      if (found?.kind !== 'found') throw new Error('only a look-up that found something settles');
      const settled = await settleFound(deps.pool, row.key, row.generation, found.externalId, found.result);
      return settled ? { kind: 'settled' } : { kind: 'look_again', afterMs: 0 };
    }
    case 'look_again':
      return { kind: 'look_again', afterMs: decision.afterMs };
    case 'redispatch':
      return redispatch(deps, row, decision, lookAgainMs);
    case 'unknown':
      await markUnknown(deps.pool, row.key, row.generation, row.lastNote ?? 'its worker ended before an answer came');
      return { kind: 'unknown', lookAgainMs: decision.lookAgainMs };
  }
}

async function redispatch(deps: ActivityDeps, row: RecoveryRow, decision: Extract<RecoveryDecision, { action: 'redispatch' }>, lookAgainMs: number | null): Promise<ReconcileResult> {
  // An absence that is authoritative and settled proves that what was sent so far had no effect; otherwise the earlier calls stay uncertain.
  if (decision.basis === 'absent') await markAbsent(deps.pool, row.key, row.generation);
  if (row.dispatches < MAX_DISPATCHES) return { kind: 'redispatch', generation: row.generation, afterMs: decision.afterMs, beforeMs: decision.beforeMs };
  await giveUpUnsent(deps.pool, row.key, givenUp(row.dispatches, row.lastNote));
  return decision.basis === 'absent' ? { kind: 'settled' } : { kind: 'unknown', lookAgainMs };
}
