import { randomUUID } from 'node:crypto';
import { runFunction } from '../children/function/run.js';
import type { FunctionChild } from '../contracts/definition.js';
import type { Json } from '../contracts/json.js';
import { CallError } from '../domain/failure.js';
import { claimCall } from '../store/ledger/claim-call.js';
import { finishCall, notePhysicalCall } from '../store/ledger/finish-call.js';
import { callSignal } from './beat.js';
import type { ChildCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { insist } from './insist.js';

/** Calls a function child. Its result is stored under the key; a repeat returns it instead of calling again (D12). */
export async function callFunction(deps: ActivityDeps, call: ChildCall<FunctionChild>, timeoutMs: number): Promise<void> {
  const { key, turnId, step, idx, child, definitionDigest } = call;
  const physicalCallId = randomUUID();
  const claimed = await claimCall(deps.pool, { key, turnId, step, idx, kind: 'child', name: child.name, physicalCallId, timeoutMs, definitionDigest, reserve: null });
  if (claimed.kind === 'stored') return;
  const result = await run(deps, call, timeoutMs, physicalCallId);
  await deps.probe('after_effect', key);
  await insist(() => finishCall(deps.pool, { key, generation: claimed.generation, physicalCallId, state: 'succeeded', result, reason: null, inputTokens: 0, outputTokens: 0, costMicros: 0 }));
}

async function run(deps: ActivityDeps, call: ChildCall<FunctionChild>, timeoutMs: number, physicalCallId: string): Promise<Json> {
  const { child, request, args, key, conversation } = call;
  const seen = child.input === 'conversation' ? { conversation } : {};
  try {
    return await runFunction(child, await deps.functionOf(child), { request, args, key, signal: callSignal(timeoutMs), ...seen });
  } catch (error) {
    await notePhysicalCall(deps.pool, physicalCallId, 'rejected', error instanceof CallError ? error.message : 'the call was ended');
    throw error;
  }
}
