import { reading } from './activities.js';

/**
 * Looks at open effects, by schedule or on an operator's word; it only looks and records, the owning step dispatches (D15). By schedule it also starts
 * detached turns that were left behind (D29, D30).
 */
export async function reconcileSweep(input?: { key?: string }): Promise<{ looked: number }> {
  return reading('look up open effects').sweepEffects(input?.key === undefined ? { by: 'schedule' } : { key: input.key, by: 'operator' });
}
