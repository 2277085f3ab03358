import { randomUUID } from 'node:crypto';
import type { AgentDefinition } from '../contracts/definition.js';
import type { ModelReply, ModelRequest } from '../contracts/model.js';
import { CallError } from '../domain/failure.js';
import { costOf } from '../domain/price.js';
import { isBlank, storable } from '../domain/text.js';
import type { CallClaim } from '../store/ledger/claim-call.js';
import { finishCall, notePhysicalCall } from '../store/ledger/finish-call.js';
import { budgetText } from '../store/turn/budget.js';
import { loadCall } from '../store/turn/context.js';
import { cancelSignal } from './beat.js';
import { claimPaid } from './claim-paid.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';

export type PromptResult = { state: 'succeeded'; text: string } | { state: 'failed' };

/** Who is asked what, within which budget (D33). */
export interface Prompt {
  agent: AgentDefinition;
  text: string;
  hasBudget: boolean;
}

/** One prompted call without tools, for a child or a summary; its text is stored under the key and never paid for twice (D12). */
export async function promptCall(deps: ActivityDeps, claim: Omit<CallClaim, 'physicalCallId' | 'reserve'>, { agent, text, hasBudget }: Prompt): Promise<PromptResult> {
  const physicalCallId = randomUUID();
  const request = { agent: agent.name, system: agent.instructions, messages: [{ role: 'user' as const, text: isBlank(text) ? '(no text)' : text }], tools: [] };
  const claimed = await claimPaid(deps, { ...claim, physicalCallId }, { model: agent.model, request, hasBudget });
  if (claimed.kind === 'over_budget') throw new CallError('terminal', budgetText(claimed));
  if (claimed.kind === 'stored') return claimed.state === 'succeeded' ? { state: 'succeeded', text: String(claimed.result) } : { state: 'failed' };
  const reply = await generate(deps, agent, request, claim.timeoutMs, physicalCallId);
  await deps.probe('after_model', claim.key);
  const problem = problemOf(reply);
  const stored = await insist(() => finishCall(deps.pool, {
    key: claim.key, generation: claimed.generation, physicalCallId, state: problem === null ? 'succeeded' : 'failed',
    result: problem === null ? storable(reply.text) : null, reason: problem, inputTokens: reply.inputTokens, outputTokens: reply.outputTokens, costMicros: costOf(agent.model, reply),
  }));
  if (stored) return problem === null ? { state: 'succeeded', text: storable(reply.text) } : { state: 'failed' };
  const winner = await loadCall(deps.pool, claim.key);
  return winner?.state === 'succeeded' ? { state: 'succeeded', text: String(winner.result) } : { state: 'failed' };
}

async function generate(deps: ActivityDeps, agent: AgentDefinition, request: ModelRequest, timeoutMs: number, physicalCallId: string): Promise<ModelReply> {
  try {
    return await deps.models.generate({ ...agent.model, timeoutMs }, request, cancelSignal());
  } catch (error) {
    await notePhysicalCall(deps.pool, physicalCallId, 'rejected', error instanceof CallError ? error.message : 'the call was ended');
    throw error;
  }
}

/** Why a child's reply is not a success; it is told to the controller, not repaired (D7). */
function problemOf(reply: ModelReply): string | null {
  if (reply.finish === 'refused') return 'The child refused.';
  if (reply.finish === 'length') return 'The reply of the child was cut off.';
  return isBlank(reply.text) ? 'The reply of the child was empty.' : null;
}
