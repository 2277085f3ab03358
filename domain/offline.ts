import type { JsonObject } from '../contracts/json.js';
import type { Message } from '../contracts/message.js';
import type { ModelRequest, OfflineRule } from '../contracts/model.js';
import { fillArgs, fillText, type TemplateValues } from './template.js';

/** Patterns see only this much of a text, in UTF-16 code units: their cost must not grow with what a sender writes. */
export const OFFLINE_MATCH_CHARS = 10_000;

/** What a rule makes the offline model say. */
export interface OfflineAnswer {
  text: string;
  calls: { tool: string; args: JsonObject }[];
}

/**
 * The answer of the first rule that matches; null when none does (I6). A turn begins at the newest user text, so a result counts as
 * "last in this turn" only when it came after it. Throws `SyntaxError` for a pattern that is not a regular expression.
 */
export function answerOffline(rules: OfflineRule[], request: Pick<ModelRequest, 'agent' | 'messages'>): OfflineAnswer | null {
  const user = request.messages.findLastIndex((message) => message.role === 'user');
  const userText = request.messages[user]?.text ?? '';
  const last = request.messages.slice(user + 1).findLast((message) => message.role === 'tool') ?? null;
  for (const rule of rules) {
    const groups = match(rule, request.agent, userText, last);
    if (groups !== null) return fill(rule, { groups, result: last?.text ?? null });
  }
  return null;
}

type ToolMessage = Extract<Message, { role: 'tool' }>;

/** Named groups of `user`, or null when the rule does not match. */
function match(rule: OfflineRule, agent: string, userText: string, last: ToolMessage | null): Record<string, string | undefined> | null {
  if (rule.agent !== null && rule.agent !== agent) return null;
  if (rule.after !== (last?.name ?? null)) return null;
  if (rule.result !== null && (last === null || find(rule.result, last.text) === null)) return null;
  if (rule.user === null) return {};
  const found = find(rule.user, userText);
  return found === null ? null : (found.groups ?? {});
}

function find(pattern: string, text: string): RegExpExecArray | null {
  return new RegExp(pattern, 'u').exec(text.slice(0, OFFLINE_MATCH_CHARS));
}

function fill(rule: OfflineRule, values: TemplateValues): OfflineAnswer {
  return { text: fillText(rule.reply ?? '', values), calls: rule.calls.map((call) => ({ tool: call.tool, args: fillArgs(call.args, values) })) };
}
