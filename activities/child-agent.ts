import { randomUUID } from 'node:crypto';
import type { AgentChild } from '../contracts/definition.js';
import type { ChildRef } from '../contracts/steps.js';
import { CallError } from '../domain/failure.js';
import { childThreadOf, turnIdOf, workflowIdOf } from '../domain/keys.js';
import { digestOf, sha256Hex } from '../store/hash.js';
import { claimCall } from '../store/ledger/claim-call.js';
import type { CallClaim } from '../store/ledger/claim-call.js';
import { finishCall } from '../store/ledger/finish-call.js';
import { createChildTurn, turnOutcome } from '../store/turn/child.js';
import { loadCall } from '../store/turn/context.js';
import type { StoredCall } from '../store/turn/context.js';
import { childCall } from './child-call.js';
import type { ChildCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';

/** Claims a call for a child agent and creates its turn; the child runs as a workflow of its own. Repeats find the same turn (D32). */
export async function startChildAgent(deps: ActivityDeps, input: { key: string }): Promise<ChildRef> {
  const call = await agentCall(deps, input.key);
  const agent = (await deps.definition(call.child.digest)).name;
  const threadId = childThreadOf(input.key);
  const child: ChildRef = {
    agent, threadId, turnId: turnIdOf(agent, threadId, input.key, sha256Hex), workflowId: workflowIdOf(agent, threadId, sha256Hex),
  };
  const claim = await claimCall(deps.pool, claimOf(input.key, { ...call, name: call.child.name }));
  if (claim.kind === 'stored') throw new CallError('terminal', `the call was closed as ${claim.state} before its child began`);
  await createChildTurn(deps.pool, input.key, child, call.child.digest, call.text, digestOf({ text: call.text }));
  return child;
}

/** Gives the outcome of a child agent's turn to the call it answers. */
export async function finishChildAgent(deps: ActivityDeps, input: { key: string; childTurnId: string }): Promise<void> {
  const outcome = await turnOutcome(deps.pool, input.childTurnId);
  const call = await loadCall(deps.pool, input.key);
  if (call === null) throw new Error(`call ${input.key} is not stored`);
  const entry = await claimCall(deps.pool, claimOf(input.key, call));
  if (entry.kind === 'stored') return;
  const succeeded = outcome.status === 'completed';
  await finishCall(deps.pool, {
    key: input.key, generation: entry.generation, physicalCallId: '', state: succeeded ? 'succeeded' : 'failed', result: succeeded ? outcome.text : null,
    reason: succeeded ? null : `The child agent ended as ${outcome.status}: ${outcome.text ?? outcome.reason ?? ''}`, inputTokens: 0, outputTokens: 0, costMicros: 0,
  });
}

/** A stored call of a child that is an agent. */
export async function agentCall(deps: ActivityDeps, key: string): Promise<ChildCall<AgentChild>> {
  const call = await childCall(deps, key);
  if (call.child.kind !== 'agent') throw new Error(`child ${call.child.name} is no agent`);
  return { ...call, child: call.child };
}

/** The claim of a call that pays for nothing itself. */
export function claimOf(key: string, { turnId, step, idx, name, definitionDigest }: Pick<StoredCall, 'turnId' | 'step' | 'idx' | 'name' | 'definitionDigest'>): CallClaim {
  return { key, turnId, step, idx, kind: 'child', name, physicalCallId: randomUUID(), timeoutMs: 0, definitionDigest, reserve: null };
}
