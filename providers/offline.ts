import type { ModelReply, ModelRequest } from '../contracts/model.js';
import { CallError } from '../domain/failure.js';
import { answerOffline, type OfflineAnswer } from '../domain/offline.js';
import type { ModelProvider } from './types.js';

/** Usual rough measure: one token for four characters. */
const CHARS_PER_TOKEN = 4;

/**
 * The rule-driven model of the sample and of tests without a network (I6). Its replies pass the same checks as any model's: calls
 * leave here as argument text. Throws a terminal `CallError` for a rule whose pattern is not a regular expression.
 */
export function createOfflineProvider(): ModelProvider {
  return {
    async generate(model, request, signal) {
      signal.throwIfAborted();
      try {
        return toReply(request, answerOffline(model.rules, request) ?? noRule(model.alias));
      } catch (error) {
        if (error instanceof SyntaxError) throw new CallError('terminal', `a rule of the offline model "${model.alias}" is not usable: ${error.message}`);
        throw error;
      }
    },
  };
}

function noRule(alias: string): OfflineAnswer {
  return { text: `I am an offline model and none of my rules covers this. Add a rule to models.${alias}.rules, or choose another provider.`, calls: [] };
}

function toReply(request: ModelRequest, answer: OfflineAnswer): ModelReply {
  const calls = answer.calls.map((call, index) => ({ providerCallId: `call_${index + 1}`, name: call.tool, argsText: JSON.stringify(call.args) }));
  return {
    text: answer.text,
    calls,
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    inputTokens: tokens(request.system + request.messages.map((message) => message.text).join('')),
    outputTokens: tokens(answer.text + calls.map((call) => call.argsText).join('')),
  };
}

function tokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}
