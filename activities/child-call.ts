import type { ChildDefinition, ConversationLine } from '../contracts/definition.js';
import type { JsonObject } from '../contracts/json.js';
import { boundedConversation, childText } from '../domain/prompt.js';
import { loadCall, loadTurnContext } from '../store/turn/context.js';
import type { ActivityDeps } from './deps.js';

/** A stored call of a child with what its input mode allows it to see, and nothing else (D32, W2). */
export interface ChildCall<C extends ChildDefinition = ChildDefinition> {
  key: string;
  turnId: string;
  step: number;
  idx: number;
  child: C;
  args: JsonObject;
  /** What the call belongs to (D34). */
  definitionDigest: string;
  /** Its turn, or one above it, has a budget (D33). */
  hasBudget: boolean;
  request: string;
  conversation: ConversationLine[];
  /** Request and conversation as one text. */
  text: string;
}

/** Reads a call and the pinned definition of its child. */
export async function childCall(deps: ActivityDeps, key: string): Promise<ChildCall> {
  const call = await loadCall(deps.pool, key);
  if (call === null) throw new Error(`call ${key} is not stored`);
  const context = await loadTurnContext(deps.pool, call.turnId, { priorLimit: 50, fromStep: call.step, workItems: 0 });
  const parent = await deps.definition(call.definitionDigest);
  const child = parent.children.find((candidate) => candidate.name === call.name);
  if (child === undefined) throw new Error(`child ${call.name} is not in the definition ${call.definitionDigest}`);
  const request = typeof call.args['text'] === 'string' ? call.args['text'] : JSON.stringify(call.args);
  const prior = context.prior.map(({ body }) => body);
  const conversation = child.input === 'conversation' ? boundedConversation(prior, { turns: parent.contextTurns, roles: parent.contextRoles }) : [];
  return { key, turnId: call.turnId, step: call.step, idx: call.idx, child, args: call.args, definitionDigest: call.definitionDigest, hasBudget: call.hasBudget, request, conversation, text: childText(request, conversation) };
}
