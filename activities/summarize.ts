import type { Json } from '../contracts/json.js';
import { summaryKey } from '../domain/keys.js';
import { clip } from '../domain/text.js';
import { saveSummary } from '../store/work-history.js';
import { loadCall } from '../store/turn/context.js';
import type { ActivityDeps } from './deps.js';
import { promptCall } from './prompt-call.js';

/** Index of summary entries in a step, above any call's. */
const SUMMARY_IDX = 1000;

/** Longest evidence and longest stored summary, in UTF-16 units (W6). */
const MAX_EVIDENCE_CHARS = 16_000;
const MAX_SUMMARY_CHARS = 2000;

/** Summarises one successful child call from the evidence that its policy names, as a provisional entry (W7, W8, W10). */
export async function summarize(deps: ActivityDeps, input: { key: string; timeoutMs: number }): Promise<void> {
  const call = await loadCall(deps.pool, input.key);
  if (call === null || call.state !== 'succeeded') return;
  const { definitionDigest, hasBudget } = call;
  const policy = (await deps.definition(definitionDigest)).summary;
  const mode = policy?.policy[call.name] ?? 'none';
  if (policy === null || mode === 'none') return;
  const agent = await deps.definition(policy.digest);
  const evidence = JSON.stringify({ child: call.name, ...segments(mode, call.args, call.result as Json) });
  const result = await promptCall(
    deps,
    {
      key: summaryKey(input.key), turnId: call.turnId, step: call.step, idx: SUMMARY_IDX + call.idx, kind: 'summary', name: policy.agent,
      timeoutMs: Math.min(input.timeoutMs, agent.model.timeoutMs), definitionDigest,
    },
    { agent, text: clip(evidence, MAX_EVIDENCE_CHARS), hasBudget },
  );
  if (result.state === 'succeeded') await saveSummary(deps.pool, input.key, clip(result.text, MAX_SUMMARY_CHARS));
  else deps.log.warn({ turnId: call.turnId, key: input.key }, 'the summary of a call could not be made; the turn goes on without it');
}

/** What was sent and what came back are separate segments and never mixed (W7). */
function segments(mode: 'request' | 'response' | 'both', request: Json, response: Json): Record<string, Json> {
  return { ...(mode === 'response' ? {} : { request }), ...(mode === 'request' ? {} : { response }) };
}
