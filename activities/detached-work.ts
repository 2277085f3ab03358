import { randomUUID } from 'node:crypto';
import type { DetachedRef } from '../contracts/steps.js';
import { childThreadOf, turnIdOf, workflowIdOf } from '../domain/keys.js';
import { CallError } from '../domain/failure.js';
import { createWork } from '../store/detached/work.js';
import { digestOf, sha256Hex } from '../store/hash.js';
import { claimCall } from '../store/ledger/claim-call.js';
import { finishCall } from '../store/ledger/finish-call.js';
import { agentCall, claimOf } from './child-agent.js';
import type { ActivityDeps } from './deps.js';

/** Creates the turn of a child that outlives the turn which calls it (D30). Repeats find the same turn. */
export async function beginWork(deps: ActivityDeps, input: { key: string }): Promise<DetachedRef> {
  const call = await agentCall(deps, input.key);
  const { detached } = call.child;
  if (detached === null) throw new Error(`child ${call.child.name} is not detached`);
  const agent = (await deps.definition(call.child.digest)).name;
  const threadId = childThreadOf(input.key);
  const ref: DetachedRef = {
    agent, threadId, turnId: turnIdOf(agent, threadId, input.key, sha256Hex), workflowId: workflowIdOf(agent, threadId, sha256Hex), undoes: false,
  };
  // What a budget refuses is refused before its work exists: the call and its work must not tell different things (D33).
  await claimCall(deps.pool, claimOf(input.key, { ...call, name: call.child.name }));
  const begun = await createWork(deps.pool, {
    key: input.key, ref, definitionDigest: call.child.digest, text: call.text, inputDigest: digestOf({ text: call.text }), maxLifeMs: detached.maxLifeMs,
  });
  if (!begun) throw new CallError('terminal', 'the turn was cancelled before the work began');
  return ref;
}

/** The call is answered at once: its work goes on by itself (D30). */
export async function workBegun(deps: ActivityDeps, input: { key: string; turnId: string }): Promise<void> {
  const call = await agentCall(deps, input.key);
  const physicalCallId = randomUUID();
  const claim = await claimCall(deps.pool, { ...claimOf(input.key, { ...call, name: call.child.name }), physicalCallId });
  if (claim.kind === 'stored') return;
  await finishCall(deps.pool, {
    key: input.key, generation: claim.generation, physicalCallId, state: 'succeeded', reason: null, inputTokens: 0, outputTokens: 0, costMicros: 0,
    result: { status: 'begun', work: input.turnId, note: 'It goes on by itself and is not done yet. Its end will be told in this conversation.' },
  });
}
