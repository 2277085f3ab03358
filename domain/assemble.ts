import type { Json } from '../contracts/json.js';
import type { Message, ToolCall, UserContent } from '../contracts/message.js';
import type { JudgedCall, StoredReply } from '../contracts/reply.js';
import { canonicalJson } from './canonical.js';
import { clip, isBlank } from './text.js';
import { invalidText, resultText } from './transcript-results.js';
import type { CallRecord } from './transcript-results.js';

/** Longest text of one call's result in a prompt, in UTF-16 units; the whole body stays in the ledger (D8). */
export const MAX_RESULT_CHARS = 32_000;

/** A ledger entry of a turn in the order of its transcript: `idx` is -1 for the model call of a step. */
export interface StepRecord extends CallRecord {
  step: number;
  idx: number;
}

/** An input that was handed to the running turn before step `beforeStep` (D4). */
export interface SteeredInput {
  beforeStep: number;
  content: UserContent;
}

/** A message and what belongs to it: groups are kept or dropped whole (C3). */
export type Group = Message[];

export function userMessage(content: UserContent): Message {
  const parts = [isBlank(content.text) ? '(no text)' : content.text];
  if (content.data !== undefined) parts.push(`[data]\n${JSON.stringify(content.data)}`);
  for (const file of content.files ?? []) parts.push(`[file] ${JSON.stringify({ id: file.id, name: file.name, mime: file.mime, size: file.size })}`);
  return { role: 'user', text: parts.join('\n\n') };
}

/** Builds the transcript of a turn from its ledger: every call has exactly one result, whatever became of it (D6). */
export function turnGroups(records: StepRecord[], steered: SteeredInput[]): Group[] {
  const groups: Group[] = [];
  const waiting = [...steered].sort((a, b) => a.beforeStep - b.beforeStep);
  for (const record of records) {
    if (record.idx !== -1) continue;
    while ((waiting[0]?.beforeStep ?? Infinity) <= record.step) groups.push([userMessage(waiting.shift()!.content)]);
    const group = replyGroup(record, records);
    if (group !== null) groups.push(group);
  }
  for (const left of waiting) groups.push([userMessage(left.content)]);
  return groups;
}

function replyGroup(record: StepRecord, records: StepRecord[]): Group | null {
  const reply = record.result as StoredReply | null;
  if (reply === null || reply.use === 'unusable') return null;
  if (reply.use === 'final') return [{ role: 'assistant', text: reply.text, calls: [] }];
  const calls: ToolCall[] = reply.calls.map(({ id, name, args }) => ({ id, name, args }));
  const results = reply.calls.map((call) => resultMessage(call, records.find((entry) => entry.step === record.step && entry.idx === call.index)));
  return [{ role: 'assistant', text: reply.text, calls }, ...results];
}

function resultMessage(call: JudgedCall, entry: StepRecord | undefined): Message {
  const text = call.problem !== null || entry === undefined ? invalidText(call.problem ?? 'it was never recorded') : resultText(entry, call.args, sameValue(entry.args, call.args));
  return { role: 'tool', callId: call.id, name: call.name, text: clip(text, MAX_RESULT_CHARS) };
}

function sameValue(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

/** Neighbouring user messages become one: strict providers refuse two in a row. */
export function joinUsers(messages: Message[]): Message[] {
  return messages.reduce<Message[]>((joined, message) => {
    const last = joined.at(-1);
    if (message.role !== 'user' || last?.role !== 'user') return [...joined, message];
    return [...joined.slice(0, -1), { role: 'user', text: `${last.text}\n\n${message.text}` }];
  }, []);
}
