import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import './quiet-runtime.js';

const BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));

/** A process has one native runtime, which ends with the last of its replayers: two that overlap take it from each other. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Replays every run of a task queue as it stands now against the bundle that the workers ran, and answers the runs that cannot be
 * replayed (D1, D34): whatever a test did, a worker that starts tomorrow must be able to go on with it.
 */
export function unreplayable(temporal: Client, taskQueue: string): Promise<string[]> {
  const run = last.then(() => replayAll(temporal, taskQueue));
  last = run.catch(() => undefined);
  return run;
}

async function replayAll(temporal: Client, taskQueue: string): Promise<string[]> {
  const problems: string[] = [];
  const histories = temporal.workflow.list({ query: `TaskQueue = "${taskQueue}"` }).intoHistories({ concurrency: 5 });
  for await (const { workflowId, runId, error } of Worker.runReplayHistories({ workflowBundle: { codePath: BUNDLE } }, histories)) {
    if (error !== undefined) problems.push(`${workflowId} (${runId}): ${error.message}`);
  }
  return problems;
}
