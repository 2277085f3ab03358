import { z } from 'zod';

/** A tool call of a scripted reply: `argsText` is sent as it is, `args` as JSON. `id` defaults to `call_1`, `call_2` … in every reply, as real providers reuse ids (D11). */
const callSchema = z.strictObject({
  id: z.string().optional(),
  name: z.string(),
  argsText: z.string().optional(),
  args: z.unknown().optional(),
});

/**
 * One answer of a scripted model. `finish` is OpenAI's `finish_reason`, by default `tool_calls` or `stop`. `status` other than 200 makes
 * an error whose message is `text`. `body` replaces the whole body: a string as it is, anything else as JSON. `hang`: no answer at all.
 * `delayMs`: wait before answering.
 */
export const scriptedReplySchema = z.strictObject({
  text: z.string().optional(),
  calls: z.array(callSchema).optional(),
  finish: z.string().nullable().optional(),
  refusal: z.string().optional(),
  status: z.number().int().min(200).max(599).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  delayMs: z.number().int().min(0).optional(),
  body: z.unknown().optional(),
  hang: z.literal(true).optional(),
  usage: z.strictObject({ prompt_tokens: z.number(), completion_tokens: z.number() }).optional(),
});
export type ScriptedReply = z.infer<typeof scriptedReplySchema>;

/**
 * A reply and when it is given; every condition that is present must hold. `whenLastUserIncludes`: the newest user text.
 * `whenLastToolIncludes`: the request ends with tool results, and one of them has the text. `whenLastRole`: who spoke last.
 * `nth`: only the n-th request since the script was set, from 1. `times`: how often the rule may be used.
 */
export const scriptedRuleSchema = z.strictObject({
  whenSystemIncludes: z.string().optional(),
  whenLastUserIncludes: z.string().optional(),
  whenLastToolIncludes: z.string().optional(),
  whenLastRole: z.enum(['user', 'tool']).optional(),
  nth: z.number().int().min(1).optional(),
  times: z.number().int().min(1).optional(),
  reply: scriptedReplySchema,
});
export type ScriptedRule = z.infer<typeof scriptedRuleSchema>;

/** A list of rules, first match wins; a bare reply in it is a rule without conditions that is used once, so a list of replies is a sequence. */
export const scriptListSchema = z.array(z.union([scriptedRuleSchema, scriptedReplySchema]));
export type ScriptList = z.infer<typeof scriptListSchema>;

/** A body of `POST /v1/chat/completions`, as far as scripts look at it. */
export interface ChatRequest {
  model?: string;
  messages: { role: string; content?: unknown; tool_call_id?: string; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[];
  tools?: { function: { name: string; description?: string; parameters?: unknown } }[];
}

/** What a model says: a list, or a function of the request and its number since the script was set, from 1. */
export type Script = ScriptList | ((request: ChatRequest, n: number) => ScriptedReply | Promise<ScriptedReply>);

/** Turns a script into a function that answers requests in order; undefined when a list has nothing left that matches. */
export function playerOf(script: Script): (request: ChatRequest) => Promise<ScriptedReply | undefined> {
  let n = 0;
  if (typeof script === 'function') return async (request) => script(request, ++n);
  const rules = script.map((item): ScriptedRule => ('reply' in item ? item : { reply: item, times: 1 }));
  const used = rules.map(() => 0);
  return async (request) => {
    n += 1;
    const index = rules.findIndex((rule, i) => (used[i] ?? 0) < (rule.times ?? Infinity) && matches(rule, request, n));
    if (index >= 0) used[index] = (used[index] ?? 0) + 1;
    return rules[index]?.reply;
  };
}

function matches(rule: ScriptedRule, request: ChatRequest, n: number): boolean {
  const { messages } = request;
  const results = messages.slice(messages.findLastIndex((message) => message.role !== 'tool') + 1);
  const has = (wanted: string | undefined, texts: unknown[]): boolean => wanted === undefined || texts.some((text) => textOf(text).includes(wanted));
  return has(rule.whenSystemIncludes, messages.filter((message) => message.role === 'system').map((message) => message.content))
    && has(rule.whenLastUserIncludes, [messages.findLast((message) => message.role === 'user')?.content])
    && has(rule.whenLastToolIncludes, results.map((message) => message.content))
    && (rule.whenLastRole === undefined || rule.whenLastRole === messages.at(-1)?.role)
    && (rule.nth === undefined || rule.nth === n);
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
