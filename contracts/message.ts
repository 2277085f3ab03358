import type { Json, JsonObject } from './json.js';

/**
 * A file as the conversation knows it: a stable reference, never bytes (document 3).
 * `size` is in bytes.
 */
export interface FileRef {
  id: string;
  name: string;
  mime: string;
  size: number;
}

/** What a sender puts into a turn. */
export interface UserContent {
  text: string;
  data?: Json;
  files?: FileRef[];
}

/**
 * One tool call of a reply. `id` is issued by Holdfast and unique in the conversation; the provider's own id
 * is correlation data only and is not kept here (D11). `args` is always an object, so that any provider
 * accepts it again; arguments that were not an object are shown in the call's result instead.
 */
export interface ToolCall {
  id: string;
  name: string;
  args: JsonObject;
}

/** A message as a model provider receives it. Every call has exactly one later `tool` message (D6). */
export type Message =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: ToolCall[] }
  | { role: 'tool'; callId: string; name: string; text: string };

/** A stored message. `group` keeps an assistant message and its results together (C3); order is `seq` (C15). */
export interface StoredMessage {
  seq: number;
  group: number;
  turnId: string;
  message: Message;
}
