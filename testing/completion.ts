import type { ScriptedReply } from './script.js';

/** Status and body of an HTTP answer. */
export interface WireReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A scripted reply as an OpenAI-compatible server sends it. */
export function toWire(reply: ScriptedReply, model: string, n: number): WireReply {
  const status = reply.status ?? 200;
  const headers = { 'content-type': 'application/json', ...reply.headers };
  if (reply.body !== undefined) return { status, headers, body: typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body) };
  if (status === 200) return { status, headers, body: JSON.stringify(completion(reply, model, n)) };
  return { ...errorReply(status, reply.text ?? `scripted status ${status}`), headers };
}

/** An error as OpenAI words it. */
export function errorReply(status: number, message: string): WireReply {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error: { message, type, param: null, code: null } }) };
}

function completion(reply: ScriptedReply, model: string, n: number): object {
  const calls = (reply.calls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index + 1}`,
    type: 'function',
    function: { name: call.name, arguments: call.argsText ?? JSON.stringify(call.args ?? {}) },
  }));
  const message = { role: 'assistant', content: reply.text ?? null, refusal: reply.refusal ?? null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const finish = reply.finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : reply.finish;
  const usage = reply.usage ?? { prompt_tokens: 10, completion_tokens: 5 };
  return {
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}
