import type { Json } from '../contracts/json.js';
import type { EffectOutcome } from '../contracts/steps.js';
import { QUIET_MS } from '../domain/recovery.js';
import type { PerformResult } from '../effects/types.js';
import { noteGoesOn, recordEffect, recordLateResult } from '../store/ledger/record-effect.js';
import type { EffectRecord } from '../store/ledger/record-effect.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';

/** How often a worker says that the work behind a call goes on, in milliseconds: a few words may get lost before the last one no longer counts. */
const SAY_EVERY_MS = QUIET_MS / 5;

/** States of an entry in which nothing more is done for it. */
export const FINAL = new Set(['succeeded', 'failed', 'reconciled', 'cancelled', 'conflict']);

/** One physical call of an effect, and the generation that it was claimed under. */
export interface PhysicalCall {
  key: string;
  generation: number;
  physicalCallId: string;
}

const RECORDED = {
  succeeded: { state: 'succeeded', call: 'succeeded' },
  rejected: { state: 'failed', call: 'rejected' },
  conflict: { state: 'conflict', call: 'rejected' },
  not_sent: { state: 'dispatched', call: 'not_sent' },
  uncertain: { state: 'unknown', call: 'uncertain' },
} as const;

/** What the ledger keeps of an adapter's answer. */
export function recordOf(call: PhysicalCall, result: PerformResult): EffectRecord {
  const content: Json = result.kind === 'succeeded' || result.kind === 'rejected' ? result.result : null;
  const goesOn = result.kind === 'uncertain' && result.late !== undefined ? { goesOnMs: QUIET_MS } : {};
  return {
    ...call, ...RECORDED[result.kind], result: content, ...goesOn,
    externalId: result.kind === 'succeeded' ? result.externalId : null, note: result.kind === 'succeeded' ? null : result.message,
  };
}

/** Records how a call ended, or that it outlived its limit, and says what that means for its step. It may be repeated. */
export async function recordResult(deps: ActivityDeps, call: PhysicalCall, result: PerformResult): Promise<EffectOutcome> {
  const record = recordOf(call, result);
  const state = await recordEffect(deps.pool, record);
  if (state === null) {
    deps.log.warn({ key: call.key, generation: call.generation }, 'a result came after another worker had taken the effect over; it is kept as evidence');
    return FINAL.has(await keepLate(deps, record)) ? { kind: 'settled' } : { kind: 'uncertain', retryAfterMs: 0 };
  }
  const retryAfterMs = 'retryAfterMs' in result ? (result.retryAfterMs ?? 0) : 0;
  if (result.kind === 'not_sent') return { kind: 'not_sent', retryAfterMs };
  return FINAL.has(state) ? { kind: 'settled' } : { kind: 'uncertain', retryAfterMs };
}

/**
 * Stays with work that outlived its limit: says again and again that it goes on, so that nothing is sent beside it (D15), and records its real end,
 * which settles an entry that is still unknown (D17). It never rejects.
 */
export async function recordWhenEnded(deps: ActivityDeps, call: PhysicalCall, late: Promise<PerformResult>): Promise<void> {
  const say = (): void => void noteGoesOn(deps.pool, call.physicalCallId, QUIET_MS)
    .catch((error: unknown) => deps.log.warn({ key: call.key, err: error }, 'that a call goes on after its limit could not be kept'));
  const saying = setInterval(say, SAY_EVERY_MS).unref();
  try {
    const record = recordOf(call, await late);
    await insist(async () => {
      const state = await recordEffect(deps.pool, record);
      if (state === null || !FINAL.has(state)) await keepLate(deps, record);
    });
  } catch (error) {
    deps.log.warn({ key: call.key, err: error }, 'what a late call came to could not be kept');
  } finally {
    clearInterval(saying);
  }
}

/** A late result is news to a turn that waits for a person: settled, proof that nothing was sent, or that nothing is in flight any more (D16, D17). */
async function keepLate(deps: ActivityDeps, record: EffectRecord): Promise<string> {
  const late = await recordLateResult(deps.pool, record);
  if (late.waited) await deps.ledgerChanged(late.workflowId, record.key);
  return late.state;
}
