import type { Engine } from './engine.js';
import type { ChatRequest } from '../../testing/index.js';

/** Text of the newest user message of a request. */
export function lastUser(request: ChatRequest): string {
  return String(request.messages.findLast((message) => message.role === 'user')?.content ?? '');
}

/** How often the model was asked with a text as the newest user message. */
export function timesAsked(requests: { body: ChatRequest }[], text: string): number {
  return requests.filter(({ body }) => lastUser(body) === text).length;
}

export interface StoredMessage {
  seq: number;
  grp: number;
  turnId: string;
  body: { role: string; text: string; calls?: { id: string }[]; callId?: string };
}

export async function messagesOf(engine: Engine, thread: string): Promise<StoredMessage[]> {
  const { rows } = await engine.pool.query<StoredMessage>(
    `select seq::int, grp::int, turn_id as "turnId", body from holdfast.message where agent = 'main' and thread_id = $1 order by seq`, [thread],
  );
  return rows;
}

/** What is wrong with a thread's stored messages: gaps, groups that are not whole, turns that are mixed (C15, D6). */
export function problemsOf(messages: StoredMessage[]): string[] {
  const problems = messages.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`place ${index + 1} holds seq ${seq}`]));
  for (const grp of new Set(messages.map((message) => message.grp))) {
    const group = messages.filter((message) => message.grp === grp);
    const [first, ...results] = group.map(({ body }) => body);
    const calls = (first?.calls ?? []).map(({ id }) => id);
    if (JSON.stringify(results.map(({ callId }) => callId)) !== JSON.stringify(calls.length === 0 ? [] : calls)) problems.push(`group ${grp}: results are not those of its calls`);
    if (new Set(group.map(({ turnId }) => turnId)).size !== 1) problems.push(`group ${grp} holds several turns`);
  }
  const turns = messages.map(({ turnId }) => turnId).filter((turnId, index, all) => turnId !== all[index - 1]);
  if (new Set(turns).size !== turns.length) problems.push('messages of one turn stand apart');
  return problems;
}

/** Events of the current (or the given) run, oldest first. */
export async function eventsOf(engine: Engine, workflowId: string, runId?: string) {
  const { events } = await engine.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  return events ?? [];
}

/** Inputs in the order in which the current run accepted them. */
export async function acceptedOrder(engine: Engine, workflowId: string): Promise<string[]> {
  return acceptedIn(await eventsOf(engine, workflowId));
}

/** Ids of the updates that a run accepted, in order. */
export function acceptedIn(events: Awaited<ReturnType<typeof eventsOf>>): string[] {
  return events.flatMap((event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.updateId ?? []);
}
