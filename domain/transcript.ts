import type { Message, ToolCall } from '../contracts/message.js';
import { isBlank } from './text.js';

/**
 * Rules that every large provider accepts, checked on each outgoing request (D6):
 * 1. The first message is the user's; the last is the user's or a result.
 * 2. No two user and no two assistant messages follow each other directly.
 * 3. Every call is answered exactly once, directly after its message; a result answers an open call of the same name.
 * 4. Call ids are unique in the request and match `^[A-Za-z0-9_-]{1,40}$`; tool names match `^[a-zA-Z0-9_-]{1,64}$`.
 * 5. No text is blank, except an assistant's next to calls. Arguments are objects.
 * 6. No string holds NUL or half a surrogate pair.
 */
const CALL_ID = /^[A-Za-z0-9_-]{1,40}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** What is wrong with a transcript, one line for each problem, by position and never by content; empty when all is well (D6). */
export function transcriptProblems(messages: Message[]): string[] {
  const problems: string[] = [];
  const open = new Map<string, string>();
  const used = new Set<string>();
  messages.forEach((message, index) => {
    const say = (problem: string): void => void problems.push(`message ${index + 1} (${message.role}): ${problem}`);
    checkText(message, say);
    if (message.role === 'tool') return checkResult(message, open, say);
    checkPlace(message, messages[index - 1], open, say);
    if (message.role === 'assistant') for (const call of message.calls) checkCall(call, used, open, say);
  });
  if (open.size > 0) problems.push(`the transcript ends with ${open.size} calls unanswered`);
  if (messages.length === 0) problems.push('the transcript is empty');
  if (messages.at(-1)?.role === 'assistant') problems.push('the transcript ends with an assistant message');
  return problems;
}

type Say = (problem: string) => void;

function checkPlace(message: Message, previous: Message | undefined, open: Map<string, string>, say: Say): void {
  if (previous === undefined && message.role !== 'user') say('the first message must be from the user');
  if (previous?.role === message.role) say(`follows another ${message.role} message`);
  if (open.size > 0) say(`${open.size} calls before it are unanswered`);
  open.clear();
}

function checkText(message: Message, say: Say): void {
  const needed = message.role !== 'assistant' || message.calls.length === 0;
  if (needed && isBlank(message.text)) say('its text is blank');
  if (!isSound(message.text)) say('its text holds NUL or half a surrogate pair');
}

function checkResult(message: Extract<Message, { role: 'tool' }>, open: Map<string, string>, say: Say): void {
  const name = open.get(message.callId);
  if (name === undefined) say('answers no open call');
  else if (name !== message.name) say('names another tool than its call');
  open.delete(message.callId);
}

function checkCall(call: ToolCall, used: Set<string>, open: Map<string, string>, say: Say): void {
  if (used.has(call.id)) say('has a call id that was used before');
  if (!CALL_ID.test(call.id)) say('has a call id that some providers refuse');
  if (!TOOL_NAME.test(call.name)) say('calls a tool by a name that some providers refuse');
  if (typeof call.args !== 'object' || call.args === null || Array.isArray(call.args)) say('has arguments that are not an object');
  if (!isSoundValue(call.args)) say('has arguments with NUL or half a surrogate pair');
  used.add(call.id);
  open.set(call.id, call.name);
}

function isSound(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Walks with a list instead of recursion, so that nesting cannot exhaust the stack. */
function isSoundValue(value: unknown): boolean {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const item = rest.pop();
    if (typeof item === 'string' && !isSound(item)) return false;
    if (typeof item === 'object' && item !== null) for (const [key, inner] of Object.entries(item)) rest.push(key, inner);
  }
  return true;
}
