import type { Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { A2aChild } from '../../contracts/definition.js';
import type { FindResult, LookResult, RemoteAgent, RemoteCall, SendResult } from '../types.js';
import { connections } from './client.js';
import type { Connect, Connection } from './client.js';
import { isNotFound, reasonOf, retryAfterOf, verdictOf } from './errors.js';
import { fromMessage, fromTask, isTask, toRequest } from './wire.js';

/** Pages of tasks that are read at most when a task is looked for, and tasks on each. */
const MAX_PAGES = 10;
const PAGE = 100;

/** Remote agents over A2A, with the official client (D32). `secrets` gives the value of an environment variable by name. */
export function createA2a(secrets: (envName: string) => string | undefined): RemoteAgent {
  const connect = connections(secrets, () => performance.now());
  return {
    send: (call, signal) => send(connect, call, signal),
    find: (call, signal) => find(connect, call, signal),
    look: (child, taskId, signal) => look(connect, child, taskId, signal),
    cancel: (child, taskId, signal) => cancel(connect, child, taskId, signal),
  };
}

async function send(connect: Connect, call: RemoteCall, signal: AbortSignal): Promise<SendResult> {
  const opened = await open(connect, call.child);
  // Only the card was asked for: no part of the message has left. What the server or we refuse, a repeat does not change.
  if ('error' in opened) {
    const message = `its agent card cannot be read: ${opened.reason}`;
    return verdictOf(opened.error) === 'rejected' ? { kind: 'rejected', message } : { kind: 'not_sent', message, retryAfterMs: retryAfterOf(opened.error) };
  }
  if (signal.aborted) return { kind: 'not_sent', message: 'its time was over before the message was sent', retryAfterMs: null };
  const { client, hide } = opened;
  try {
    const answer = await client.sendMessage(toRequest(call), { signal });
    if (!isTask(answer)) return { kind: 'answered', text: fromMessage(answer, hide) };
    const task = fromTask(answer, hide);
    return task === null ? { kind: 'uncertain', message: 'it named no usable task id', retryAfterMs: null } : { kind: 'task', task };
  } catch (error) {
    const [kind, message] = [verdictOf(error), reasonOf(error, hide)];
    return kind === 'rejected' ? { kind, message } : { kind, message, retryAfterMs: retryAfterOf(error) };
  }
}

async function find(connect: Connect, call: RemoteCall, signal: AbortSignal): Promise<FindResult> {
  const opened = await open(connect, call.child);
  if ('error' in opened) return { kind: 'inconclusive', note: opened.reason, again: true };
  const { client, hide } = opened;
  try {
    const tasks = call.taskId === null ? await tasksOf(client, call, signal) : [await client.getTask({ tenant: '', id: call.taskId }, { signal })];
    const [match, ...others] = tasks.filter((task) => task.history.some(({ messageId }) => messageId === call.messageId));
    if (others.length > 0) return { kind: 'inconclusive', note: `${others.length + 1} tasks hold the message`, again: false };
    if (match === undefined) return { kind: 'absent', note: `none of ${tasks.length} tasks of the context holds the message` };
    const task = fromTask(match, hide);
    return task === null ? { kind: 'inconclusive', note: 'the task has no usable id', again: false } : { kind: 'found', taskId: task.id, note: `task ${task.id} holds the message` };
  } catch (error) {
    return { kind: 'inconclusive', note: reasonOf(error, hide), again: verdictOf(error) !== 'rejected' };
  }
}

async function tasksOf(client: Connection['client'], { contextId }: RemoteCall, signal: AbortSignal): Promise<Task[]> {
  const tasks: Task[] = [];
  let pageToken = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const filter = { tenant: '', contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: PAGE, pageToken, statusTimestampAfter: undefined };
    const answer = await client.listTasks(filter, { signal });
    tasks.push(...answer.tasks.filter((task) => task.contextId === contextId));
    pageToken = answer.nextPageToken;
    if (pageToken === '') return tasks;
  }
  throw new Error(`its list of tasks has more than ${MAX_PAGES} pages`);
}

async function look(connect: Connect, child: A2aChild, taskId: string, signal: AbortSignal): Promise<LookResult> {
  const opened = await open(connect, child);
  if ('error' in opened) return { kind: 'unreachable', message: opened.reason };
  const { client, hide } = opened;
  try {
    const task = fromTask(await client.getTask({ tenant: '', id: taskId, historyLength: 0 }, { signal }), hide);
    return task?.id === taskId ? { kind: 'task', task } : { kind: 'unreachable', message: 'it answered with another task' };
  } catch (error) {
    return isNotFound(error) ? { kind: 'gone' } : { kind: 'unreachable', message: reasonOf(error, hide) };
  }
}

/** Refused because the task has ended, or not reached: a look at it tells which. */
async function cancel(connect: Connect, child: A2aChild, taskId: string, signal: AbortSignal): Promise<void> {
  const opened = await open(connect, child);
  if ('error' in opened) return;
  await opened.client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, { signal }).catch(() => undefined);
}

/** What fails before a connection is open has seen no secret of ours, except in an answer to the card's request, of which nothing is kept. */
async function open(connect: Connect, child: A2aChild): Promise<Connection | { error: unknown; reason: string }> {
  try {
    return await connect(child);
  } catch (error) {
    return { error, reason: reasonOf(error, null) };
  }
}
