import type { JSONSchema7, LanguageModelV3CallOptions, LanguageModelV3GenerateResult, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Message } from '../contracts/message.js';
import type { FinishReason, ModelReply, ModelRequest, RawToolCall } from '../contracts/model.js';
import { isBlank } from '../domain/text.js';

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number];

/**
 * A request in the form of the AI SDK. The only casts at this boundary are here. Results of one reply become one `tool` message,
 * because Gemini counts the results of a turn.
 */
export function toPrompt(request: ModelRequest): Pick<LanguageModelV3CallOptions, 'prompt' | 'tools'> {
  const prompt: LanguageModelV3Prompt = isBlank(request.system) ? [] : [{ role: 'system', content: request.system }];
  for (const message of request.messages) append(prompt, message);
  const tools = request.tools.map((tool) => ({
    type: 'function' as const, name: tool.name, description: tool.description, inputSchema: tool.inputSchema as JSONSchema7,
  }));
  return tools.length === 0 ? { prompt } : { prompt, tools };
}

function append(prompt: LanguageModelV3Prompt, message: Message): void {
  if (message.role === 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: message.text }] });
  else if (message.role === 'assistant') prompt.push({ role: 'assistant', content: assistantParts(message) });
  else {
    const part: ToolPart = { type: 'tool-result', toolCallId: message.callId, toolName: message.name, output: { type: 'text', value: message.text } };
    const last = prompt.at(-1);
    if (last?.role === 'tool') last.content.push(part);
    else prompt.push({ role: 'tool', content: [part] });
  }
}

/** A blank text next to calls is left out: providers refuse blank text, and the calls say it all. */
function assistantParts(message: Extract<Message, { role: 'assistant' }>): AssistantPart[] {
  const text: AssistantPart[] = isBlank(message.text) ? [] : [{ type: 'text', text: message.text }];
  return [...text, ...message.calls.map((call) => ({ type: 'tool-call' as const, toolCallId: call.id, toolName: call.name, input: call.args }))];
}

/** A reply as Holdfast keeps it; text and argument text are exactly what the SDK handed over (D7). */
export function fromReply(result: LanguageModelV3GenerateResult): ModelReply {
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls: RawToolCall[] = [];
  for (const part of result.content) {
    if (part.type === 'tool-call') calls.push({ providerCallId: part.toolCallId, name: part.toolName, argsText: part.input });
  }
  return {
    text,
    calls,
    finish: finishOf(result, calls.length > 0),
    inputTokens: tokens(result.usage.inputTokens.total),
    outputTokens: tokens(result.usage.outputTokens.total),
  };
}

const refusalSchema = z.object({ choices: z.tuple([z.object({ message: z.object({ refusal: z.string().min(1) }) })], z.unknown()) });

/** The SDK shows a refusal as plain text and names it only for `stop`; the raw reply says it for certain. */
function finishOf(result: LanguageModelV3GenerateResult, hasCalls: boolean): FinishReason {
  if (refusalSchema.safeParse(result.response?.body).success) return 'refused';
  switch (result.finishReason.unified) {
    case 'stop': return hasCalls ? 'tool_calls' : 'stop';
    case 'tool-calls': return 'tool_calls';
    case 'length': return 'length';
    case 'content-filter': return 'refused';
    default: return 'other';
  }
}

function tokens(count: number | undefined): number {
  return count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : 0;
}
