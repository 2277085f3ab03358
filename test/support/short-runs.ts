import { inject } from 'vitest';
import { startTemporal, type Temporal } from '../../dev/temporal/start.js';
import type { Engine } from './engine.js';
import { eventsOf } from './thread.js';
import { waitFor } from './wait.js';

/** Events after which the server of `startShortRuns` asks a run to continue as new. */
export const SUGGEST_AFTER = 60;

/** A Temporal server of its own on which every run soon becomes long (D1), or has another limit; give its address to `startEngine` as `TEMPORAL_ADDRESS`. */
export function startShortRuns(limits: Record<string, string> = { 'limit.historyCount.suggestContinueAsNew': String(SUGGEST_AFTER) }): Promise<Temporal> {
  return startTemporal({
    binary: inject('temporalBinary'), dataFile: null, namespace: 'default', env: process.env, log: () => undefined, ui: false,
    dynamicConfig: limits,
  });
}

/** Makes a waiting run long with signals that mean nothing to it, until another run has taken its place. */
export async function rollOver(engine: Engine, workflowId: string): Promise<void> {
  const handle = engine.temporal.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  await waitFor(async () => {
    const now = await handle.describe();
    if (now.runId !== runId) return true;
    // One at a time: signals that come faster than they are handled keep a run from ending.
    if (!now.raw.pendingWorkflowTask) await handle.signal('ledgerChanged', { key: 'none' });
    return false;
  }, { what: `${workflowId} to continue as new` });
}

/** Events of the newest run and of all runs that it continues, oldest run first. */
export async function chainOf(engine: Engine, workflowId: string): Promise<Awaited<ReturnType<typeof eventsOf>>[]> {
  const chain: Awaited<ReturnType<typeof eventsOf>>[] = [];
  for (let runId: string | undefined = ''; runId !== undefined; ) {
    const events = await eventsOf(engine, workflowId, runId === '' ? undefined : runId);
    chain.unshift(events);
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  }
  return chain;
}

/** Turns in the order in which they ended. */
export async function endedOrder(engine: Engine, thread: string): Promise<string[]> {
  const { rows } = await engine.pool.query<{ turn_id: string }>('select turn_id from holdfast.turn where thread_id = $1 and ended_at is not null and merged_into is null order by ended_at', [thread]);
  return rows.map((row) => row.turn_id);
}
