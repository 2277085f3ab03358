import type { ChildDefinition } from '../contracts/definition.js';
import type { ChildRef } from '../contracts/steps.js';
import { CallError } from '../domain/failure.js';
import { childText } from '../domain/prompt.js';
import { turnIdOf, workflowIdOf } from '../domain/keys.js';
import { randomUUID } from 'node:crypto';
import { digestOf, sha256Hex } from '../store/hash.js';
import { claimCall } from '../store/ledger/claim-call.js';
import type { CallClaim } from '../store/ledger/claim-call.js';
import { finishCall } from '../store/ledger/finish-call.js';
import { createChildTurn, turnOutcome } from '../store/turn/child.js';
import { loadCall, loadTurnContext } from '../store/turn/context.js';
import type { StoredCall } from '../store/turn/context.js';
import type { ActivityDeps } from './deps.js';
import { promptCall } from './prompt-call.js';

interface ChildCall {
  turnId: string;
  step: number;
  idx: number;
  definitionDigest: string;
  child: ChildDefinition;
  text: string;
  hasBudget: boolean;
}

/** Runs a child of kind `model`: one prompted call with only what its input mode allows (D32, W2). */
export async function callChild(deps: ActivityDeps, input: { key: string; timeoutMs: number }): Promise<void> {
  const call = await childCall(deps, input.key);
  const agent = await deps.definition(call.child.digest);
  const timeoutMs = Math.min(agent.model.timeoutMs, input.timeoutMs);
  await promptCall(deps, { key: input.key, turnId: call.turnId, step: call.step, idx: call.idx, kind: 'child', name: call.child.name, timeoutMs, definitionDigest: call.definitionDigest }, { agent, text: call.text, hasBudget: call.hasBudget });
}

/** Claims a call for a child agent and creates its turn; the child runs as a workflow of its own. Repeats find the same turn (D32). */
export async function startChildAgent(deps: ActivityDeps, input: { key: string }): Promise<ChildRef> {
  const call = await childCall(deps, input.key);
  const agent = (await deps.definition(call.child.digest)).name;
  const threadId = input.key;
  const child: ChildRef = {
    agent, threadId, turnId: turnIdOf(agent, threadId, input.key, sha256Hex), workflowId: workflowIdOf(agent, threadId, sha256Hex),
  };
  const claim = await claimCall(deps.pool, childClaim(input.key, { ...call, name: call.child.name }));
  if (claim.kind === 'stored') throw new CallError('terminal', `the call was closed as ${claim.state} before its child began`);
  await createChildTurn(deps.pool, input.key, child, call.child.digest, call.text, digestOf({ text: call.text }));
  return child;
}

/** Gives the outcome of a child agent's turn to the call it answers. */
export async function finishChildAgent(deps: ActivityDeps, input: { key: string; childTurnId: string }): Promise<void> {
  const outcome = await turnOutcome(deps.pool, input.childTurnId);
  const call = await loadCall(deps.pool, input.key);
  if (call === null) throw new Error(`call ${input.key} is not stored`);
  const entry = await claimCall(deps.pool, childClaim(input.key, call));
  if (entry.kind === 'stored') return;
  const succeeded = outcome.status === 'completed';
  await finishCall(deps.pool, {
    key: input.key, generation: entry.generation, physicalCallId: '', state: succeeded ? 'succeeded' : 'failed', result: succeeded ? outcome.text : null,
    reason: succeeded ? null : `The child agent ended as ${outcome.status}: ${outcome.text ?? outcome.reason ?? ''}`, inputTokens: 0, outputTokens: 0, costMicros: 0,
  });
}

function childClaim(key: string, { turnId, step, idx, name, definitionDigest }: Pick<StoredCall, 'turnId' | 'step' | 'idx' | 'name' | 'definitionDigest'>): CallClaim {
  return { key, turnId, step, idx, kind: 'child', name, physicalCallId: randomUUID(), timeoutMs: 0, definitionDigest, reserve: null };
}

async function childCall(deps: ActivityDeps, key: string): Promise<ChildCall> {
  const call = await loadCall(deps.pool, key);
  if (call === null) throw new Error(`call ${key} is not stored`);
  const context = await loadTurnContext(deps.pool, call.turnId, { priorLimit: 50, fromStep: call.step, workItems: 0 });
  const parent = await deps.definition(call.definitionDigest);
  const child = parent.children.find((candidate) => candidate.name === call.name);
  if (child === undefined) throw new Error(`child ${call.name} is not in the definition ${call.definitionDigest}`);
  const request = String(call.args['text']);
  const prior = context.prior.map(({ body }) => body);
  const text = child.input === 'conversation' ? childText(request, prior, { turns: parent.contextTurns, roles: parent.contextRoles }) : request;
  return { turnId: call.turnId, step: call.step, idx: call.idx, definitionDigest: call.definitionDigest, child, text, hasBudget: call.hasBudget };
}
