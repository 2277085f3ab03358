import type { JsonObject } from './json.js';
import type { Message } from './message.js';

/** A tool as a model sees it. `inputSchema` is JSON Schema. */
export interface ToolSpec {
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/** One request to a model. `system` is rebuilt for every call (C3). */
export interface ModelRequest {
  /** The agent on whose behalf the call is made. */
  agent: string;
  system: string;
  messages: Message[];
  tools: ToolSpec[];
}

/** A tool call exactly as the model wrote it: `argsText` is not parsed or repaired by a provider (D7). */
export interface RawToolCall {
  providerCallId: string;
  name: string;
  argsText: string;
}

/**
 * Why the model stopped. `length`: cut off. `refused`: refusal or content filter. `other`: the provider
 * did not say anything known.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'refused' | 'other';

export interface ModelReply {
  text: string;
  calls: RawToolCall[];
  finish: FinishReason;
  /** Tokens as the provider counted them; 0 when it did not say. */
  inputTokens: number;
  outputTokens: number;
}

/** How to reach a model; part of the pinned definition (D34). Holds the *name* of the secret, never the secret. */
export interface ModelDefinition {
  alias: string;
  provider: 'openai' | 'anthropic' | 'google' | 'openai_compatible' | 'offline';
  model: string;
  baseUrl: string | null;
  apiKeyEnv: string | null;
  /** Limit for one call. */
  timeoutMs: number;
  /** Longest reply that is asked for, in tokens; null: the provider's own limit. */
  maxOutputTokens: number | null;
  /** US dollars for a million tokens, for the budget (D33); null: no price is known. */
  price: { input: number; output: number } | null;
  /** Rules of the `offline` provider, first match wins. */
  rules: OfflineRule[];
}

/**
 * A rule of the `offline` provider. It matches when `agent` is the calling agent (null: any), `user` (a regular expression, flag `u`;
 * null: any) matches the newest user text, `after` names the tool whose result came last in this turn (null: none yet), and
 * `result` (a regular expression, flag `u`; null: any) matches the text of that last result.
 * `{name}` in `reply` and in any string of `args` is replaced by a named group of `user`, `{result}` by the last result's text and
 * `{result.FIELD}` by a field of it when it is JSON. A whole string `"{name:int}"` in `args` becomes a number.
 */
export interface OfflineRule {
  agent: string | null;
  user: string | null;
  after: string | null;
  result: string | null;
  reply: string | null;
  calls: { tool: string; args: JsonObject }[];
}
