import { Worker } from '@temporalio/worker';
import { BUNDLE_PATH } from './bundle.js';
import { historyFromJson } from './history-json.js';

/** What a replay needs of a recorded run. */
export interface RecordedRun {
  workflowId: string;
  history: ReturnType<typeof historyFromJson>;
}

/**
 * Reads a recorded history: JSON as "temporal workflow show --output json" or the Temporal UI writes it (an object with `events`, or the list
 * alone). A conversation reads its own id, so that it must be replayed under the one that it was recorded with. Throws for anything else.
 */
export function recordedRun(json: unknown): RecordedRun {
  const history = historyFromJson(Array.isArray(json) ? { events: json } : json);
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  if (workflowId === undefined || workflowId === null || workflowId === '') throw new Error('its first event names no workflow id');
  return { workflowId, history };
}

/** Replays a run against a workflow bundle, by default this build's (D34). Null when it does the same again, else what differs. */
export async function replay(run: RecordedRun, codePath = BUNDLE_PATH): Promise<string | null> {
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, [run])) {
    return error === undefined ? null : `${error.name}: ${error.message}`;
  }
  throw new Error('nothing was replayed');
}
