/**
 * Identities (D1, D2, D11). Hashing is passed in, because the determinism zone has no crypto.
 * 1. A turn's id is derived from (agent, thread, request id): a repeated request meets its own row.
 * 2. A logical key is `turn.step.index`; the model call of a step has index `m`, a summary ends in `s`. It never depends on arguments.
 */
export type Sha256Hex = (text: string) => string;

/** Temporal's visibility keeps 255 bytes; above this length the id is hashed (I11). */
const MAX_WORKFLOW_ID_BYTES = 200;

export function workflowIdOf(agent: string, threadId: string, sha256Hex: Sha256Hex): string {
  const id = plainWorkflowId(agent, threadId);
  return id.length <= MAX_WORKFLOW_ID_BYTES ? id : `holdfast/${encode(agent)}/~${sha256Hex(threadId)}`;
}

/** The conversation that a workflow id names; null for a hashed or foreign id, and for one that is not encoded as `workflowIdOf` does. */
export function conversationOf(workflowId: string): { agent: string; threadId: string } | null {
  const match = /^holdfast\/([^/~]+)\/([^/~]+)$/.exec(workflowId);
  if (match === null) return null;
  try {
    const named = { agent: decodeURIComponent(match[1] ?? ''), threadId: decodeURIComponent(match[2] ?? '') };
    return plainWorkflowId(named.agent, named.threadId) === workflowId ? named : null;
  } catch {
    return null;
  }
}

/** Whether a conversation may run under an id: two ids for one conversation would run its turns side by side (D1). */
export function mayRunUnder(workflowId: string, { agent, threadId }: { agent: string; threadId: string }): boolean {
  const plain = plainWorkflowId(agent, threadId);
  if (plain.length <= MAX_WORKFLOW_ID_BYTES) return workflowId === plain;
  const hashed = `holdfast/${encode(agent)}/~`;
  return workflowId.startsWith(hashed) && /^[0-9a-f]{64}$/.test(workflowId.slice(hashed.length));
}

function plainWorkflowId(agent: string, threadId: string): string {
  return `holdfast/${encode(agent)}/${encode(threadId)}`;
}

/** `~` marks a hashed id, so that no thread's own name may begin with it. */
function encode(part: string): string {
  return encodeURIComponent(part).replaceAll('~', '%7E');
}

/**
 * Threads of Holdfast's own begin with this sign, and no thread from outside may (`threadIdSchema`): nobody can submit into them, and no
 * conversation of a user bears their name.
 */
const OWN = '~';

/** Conversation of a child agent, or of detached work: one for each call (D30, D32). */
export function childThreadOf(key: string): string {
  return `${OWN}${key}`;
}

/** Conversation of one try to undo an effect, counted from 1 (D29). */
export function undoThreadOf(key: string, attempt: number): string {
  return `${OWN}undo ${attempt} ${key}`;
}

export function isOwnThread(threadId: string): boolean {
  return threadId.startsWith(OWN);
}

export function turnIdOf(agent: string, threadId: string, requestId: string, sha256Hex: Sha256Hex): string {
  return `t${sha256Hex(JSON.stringify([agent, threadId, requestId])).slice(0, 30)}`;
}

export function modelKey(turnId: string, step: number): string {
  return `${turnId}.${step}.m`;
}

export function callKey(turnId: string, step: number, index: number): string {
  return `${turnId}.${step}.${index}`;
}

export function summaryKey(key: string): string {
  return `${key}.s`;
}

export function approvalIdOf(key: string): string {
  return `apr-${key}`;
}

/** Id under which a remote agent knows one conversation with one of its children: the same on every call (D32). */
export function contextIdOf(agent: string, threadId: string, child: string, sha256Hex: Sha256Hex): string {
  return `holdfast-${sha256Hex(JSON.stringify([agent, threadId, child])).slice(0, 40)}`;
}

/** Id of a call in a transcript: short enough for every provider and unique in the conversation (D11). */
export function transcriptCallId(turnId: string, step: number, index: number): string {
  return `c_${turnId.slice(1, 17)}_${step}_${index}`;
}
