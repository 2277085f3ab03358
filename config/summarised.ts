import type { HoldfastConfig } from '../contracts/config.js';

/** Children of an agent whose calls are summarised, with the evidence for it (W6). */
export function summarisedChildren(children: string[], { enabled, summary_agent: summary, policy }: HoldfastConfig['work_memory']): [child: string, evidence: 'request' | 'response' | 'both'][] {
  if (!enabled) return [];
  return children.flatMap((child): ReturnType<typeof summarisedChildren> => {
    const evidence = child === summary ? undefined : policy[child];
    return evidence === undefined || evidence === 'none' ? [] : [[child, evidence]];
  });
}
