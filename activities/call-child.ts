import { callFunction } from './call-function.js';
import { callRemote } from './call-remote.js';
import { childCall } from './child-call.js';
import type { ActivityDeps } from './deps.js';
import { promptCall } from './prompt-call.js';

/** Runs a child that is no workflow of its own: one prompted call, a function, or a remote agent, each with only what its input mode allows (D32, W2). */
export async function callChild(deps: ActivityDeps, input: { key: string; timeoutMs: number }): Promise<void> {
  const call = await childCall(deps, input.key);
  const { child, key, turnId, step, idx, text, definitionDigest, hasBudget } = call;
  switch (child.kind) {
    case 'a2a':
      return callRemote(deps, { ...call, child }, input.timeoutMs);
    case 'function':
      return callFunction(deps, { ...call, child }, input.timeoutMs);
    case 'model': {
      const agent = await deps.definition(child.digest);
      const timeoutMs = Math.min(agent.model.timeoutMs, input.timeoutMs);
      await promptCall(deps, { key, turnId, step, idx, kind: 'child', name: child.name, timeoutMs, definitionDigest }, { agent, text, hasBudget });
      return;
    }
    case 'agent':
      throw new Error(`child ${child.name} runs as a workflow of its own`);
  }
}
