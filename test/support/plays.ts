import type { ChatRequest, RecordedRequest, Script, ScriptedReply } from '../../testing/index.js';

type Move = ScriptedReply | ((request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>);

/**
 * A script for many turns at once: the newest user text begins with the name of its play, and each model call of the turn gets the next
 * move of it. Without a play, or after its last move, the model answers `ok`.
 */
export function plays(all: Record<string, Move[]>): Script {
  return async (request) => {
    const { messages } = request;
    const user = messages.findLastIndex((message) => message.role === 'user');
    const name = textOf(messages[user]?.content).trim().split(/\s+/)[0] ?? '';
    const made = messages.slice(user + 1).filter((message) => message.role === 'assistant').length;
    const move = all[name]?.[made] ?? { text: 'ok' };
    return typeof move === 'function' ? move(request) : move;
  };
}

export function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/** The newest request whose newest user text begins with this. */
export function requestAbout(requests: RecordedRequest[], text: string): RecordedRequest | undefined {
  return requests.findLast(({ body }) => textOf(body.messages.findLast((message) => message.role === 'user')?.content).startsWith(text));
}

/** Texts of all messages of one role in a request. */
export function said(request: RecordedRequest | undefined, role: string): string[] {
  return (request?.body.messages ?? []).filter((message) => message.role === role).map((message) => textOf(message.content));
}
