import type { Message } from '../../contracts/message.js';

/** Messages as an OpenAI-compatible server receives them, written apart from the product's own conversion. */
export function openAiBody(system: string, messages: Message[]): object {
  const wire = messages.map((message) => {
    if (message.role === 'user') return { role: 'user', content: message.text };
    if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text };
    const calls = message.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));
    return { role: 'assistant', content: message.text.trim() === '' ? null : message.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  });
  return { model: 'm', messages: [{ role: 'system', content: system }, ...wire] };
}
