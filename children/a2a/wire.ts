import { Role, TaskState } from '@a2a-js/sdk';
import type { Message, Part, SendMessageRequest, Task } from '@a2a-js/sdk';
import { clip, isBlank, storable } from '../../domain/text.js';
import type { RemoteCall, RemoteState, RemoteTask } from '../types.js';

/** Longest text that is kept of a remote agent, in UTF-16 code units. */
const MAX_TEXT = 64_000;
const MAX_ID_CHARS = 500;

const STATE: Partial<Record<TaskState, RemoteState>> = {
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_REJECTED]: 'rejected',
  [TaskState.TASK_STATE_CANCELED]: 'canceled',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'asks',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'asks',
};

/** The one message of a call. It asks for an answer at once, so that the id of the task is known before anybody waits (D32). */
export function toRequest(call: RemoteCall): SendMessageRequest {
  return {
    tenant: '', metadata: undefined,
    message: {
      messageId: call.messageId, contextId: call.contextId, taskId: call.taskId ?? '', role: Role.ROLE_USER, metadata: undefined, extensions: [], referenceTaskIds: [],
      parts: [{ content: { $case: 'text', value: call.text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    },
    configuration: { acceptedOutputModes: ['text/plain', 'application/json'], taskPushNotificationConfig: undefined, returnImmediately: true },
  };
}

/** Null when it has no id that could be stored and asked for again. A state that is not known is not an end. */
export function fromTask(task: Task, hide: (text: string) => string): RemoteTask | null {
  if (!isUsableId(task.id)) return null;
  const texts = [...task.artifacts.map((artifact) => textOf(artifact.parts)), textOf(task.status?.message?.parts ?? [])];
  const text = texts.filter((item) => !isBlank(item)).join('\n\n');
  return { id: task.id, state: STATE[task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? 'working', text: toText(text, hide) };
}

export function fromMessage(message: Message, hide: (text: string) => string): string {
  return toText(textOf(message.parts), hide);
}

export function isTask(answer: Task | Message): answer is Task {
  return 'artifacts' in answer;
}

function toText(text: string, hide: (text: string) => string): string {
  return clip(storable(hide(text)), MAX_TEXT);
}

function isUsableId(id: unknown): id is string {
  return typeof id === 'string' && !isBlank(id) && id.length <= MAX_ID_CHARS && id.isWellFormed() && !id.includes('\0');
}

function textOf(parts: Part[]): string {
  return parts.map(partText).filter((text) => !isBlank(text)).join('\n');
}

/** Files are named, not fetched: an address that a remote agent wrote is never followed. */
function partText({ content, filename }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return JSON.stringify(content.value) ?? '';
    case 'url':
      return `[file ${filename}: ${content.value}]`;
    case 'raw':
      return `[file ${filename}: ${content.value.length} bytes]`;
    case undefined:
      return '';
  }
}
