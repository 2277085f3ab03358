import type { AgentDefinition } from '../contracts/definition.js';
import type { EffectDefinition } from '../contracts/effect.js';
import type { JudgedCall, StoredReply } from '../contracts/reply.js';
import type { CallRef, ModelStepResult } from '../contracts/steps.js';
import { effectOf } from '../domain/effect-of.js';
import { ASK_USER } from '../domain/judge-reply.js';
import { callKey } from '../domain/keys.js';

/** Limit of a child call whose own definition is not at hand, in milliseconds. */
const CHILD_TIMEOUT_MS = 120_000;

/** A stored reply as the workflow gets it: what to run, by reference (D8). The same for the first answer and every repeat. */
export function toStepResult(reply: StoredReply, turnId: string, step: number, definition: AgentDefinition): ModelStepResult {
  if (reply.use === 'final') return { kind: 'final' };
  if (reply.use === 'unusable') return { kind: 'unusable', problem: reply.problem };
  const runnable = reply.calls.filter((call) => call.problem === null);
  return { kind: 'calls', calls: runnable.map((call) => toCallRef(call, turnId, step, definition)), invalid: reply.calls.length - runnable.length };
}

/** An effect as the workflow runs it. */
export function effectRef(effect: EffectDefinition, key: string, index: number): CallRef {
  return {
    ...NOTHING_SPECIAL, key, index, name: effect.name, kind: 'effect', sequential: effect.sequential, needsApproval: effect.approval !== null,
    hasPrecondition: effect.approval?.precondition != null, timeoutMs: effect.timeoutMs,
    ...(effect.maxConcurrent === null ? {} : { maxConcurrent: effect.maxConcurrent }),
  };
}

const NOTHING_SPECIAL = { childAgent: false, sequential: false, needsApproval: false, hasPrecondition: false, summarize: false };

/** One call by reference, as a definition means it. */
export function toCallRef(call: Pick<JudgedCall, 'index' | 'name'>, turnId: string, step: number, definition: AgentDefinition): CallRef {
  const key = callKey(turnId, step, call.index);
  const base = { ...NOTHING_SPECIAL, key, index: call.index, name: call.name };
  const effect = effectOf(definition, call.name);
  if (effect !== undefined) return effectRef(effect, key, call.index);
  if (call.name === ASK_USER) return { ...base, kind: 'input', timeoutMs: 0 };
  const child = definition.children.find((candidate) => candidate.name === call.name);
  const policy = definition.summary?.policy[call.name] ?? 'none';
  return {
    ...base, kind: 'child', childAgent: child?.kind === 'agent', detached: child?.kind === 'agent' && child.detached !== null, summarize: policy !== 'none',
    timeoutMs: child?.kind === 'a2a' || child?.kind === 'function' ? child.timeoutMs : CHILD_TIMEOUT_MS,
    ...(child?.kind === 'a2a' ? { remote: true } : {}),
  };
}
