import type { AgentDefinition } from '../contracts/definition.js';
import type { JsonObject } from '../contracts/json.js';
import type { ModelReply, RawToolCall } from '../contracts/model.js';
import type { JudgedCall, StoredReply } from '../contracts/reply.js';
import { parseArguments } from './arguments.js';
import { transcriptCallId } from './keys.js';
import { clip, isBlank, storable } from './text.js';

/** Name of the built-in tool that waits for new input (D4). */
export const ASK_USER = 'ask_user';

/** Most calls that one reply may make. */
export const MAX_CALLS = 32;

/** Longest text that is kept of a refusal, and of what is wrong with a call, in UTF-16 units. */
const MAX_DETAIL_CHARS = 1000;

/** Says what is wrong with arguments by the tool's schema, or null. Passed in: schema libraries are not for the determinism zone. */
export type SchemaCheck = (tool: string, args: JsonObject) => string | null;

/**
 * Decides what of a model's reply may be used (D7). Rules:
 * 1. A refused reply, a cut-off one and one without text or calls are not used at all.
 * 2. A call runs only when its tool exists and its arguments are a JSON object that passes the schema. Nothing is repaired.
 * 3. A call that does not run gets its one result now; the others of the same reply still run.
 */
export function judgeReply(turnId: string, step: number, reply: ModelReply, definition: AgentDefinition, check: SchemaCheck): StoredReply {
  const text = storable(reply.text);
  if (reply.finish === 'refused') return { use: 'unusable', problem: 'refused', detail: clip(text, MAX_DETAIL_CHARS) };
  if (reply.finish === 'length') return { use: 'unusable', problem: 'cut_off', detail: '' };
  if (reply.calls.length > 0) return { use: 'calls', text, calls: reply.calls.map((call, index) => judgeCall(turnId, step, call, index, definition, check)) };
  return isBlank(text) ? { use: 'unusable', problem: 'blank', detail: '' } : { use: 'final', text };
}

function judgeCall(turnId: string, step: number, call: RawToolCall, index: number, definition: AgentDefinition, check: SchemaCheck): JudgedCall {
  const id = transcriptCallId(turnId, step, index);
  const known = toolNames(definition);
  // A problem quotes keys, names and text of the model, which may hold what cannot be stored.
  const refuse = (problem: string): JudgedCall => ({ index, id, name: safeName(call.name), args: {}, problem: clip(storable(problem), MAX_DETAIL_CHARS) });
  if (!known.includes(call.name)) return refuse(`there is no tool ${JSON.stringify(call.name.slice(0, 100))}; there are: ${known.join(', ') || 'none'}`);
  if (index >= MAX_CALLS) return refuse(`one reply may make at most ${MAX_CALLS} calls`);
  const parsed = parseArguments(call.argsText);
  if (!parsed.ok) return refuse(`${parsed.problem}. Received: ${call.argsText.slice(0, 300)}`);
  return { index, id, name: call.name, args: parsed.args, problem: check(call.name, parsed.args) };
}

export function toolNames(definition: AgentDefinition): string[] {
  return [...definition.children.map((child) => child.name), ...definition.effects.map((effect) => effect.name), ...(definition.askUser ? [ASK_USER] : [])];
}

/** Providers refuse a transcript with a tool name of other characters, so an invented one is shown in a safe form. */
function safeName(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  return safe === '' ? 'unknown_tool' : safe;
}
