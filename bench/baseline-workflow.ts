import { proxyActivities } from '@temporalio/workflow';
import type { BaselineActivities } from './baseline.js';

const steps = proxyActivities<BaselineActivities>({ startToCloseTimeout: '30s' });

/** Baseline A: the same five steps, written by hand as five plain activities, without ledger, memory or fencing. */
export async function fiveActivities(turnId: string): Promise<string> {
  await steps.model(turnId);
  await steps.child(turnId);
  await steps.effect(turnId);
  await steps.summary(turnId);
  return steps.finish(turnId);
}
