/** Workflow types (I11). Everything reachable from here runs in the determinism zone: no clock, no random, no IO. */
export { conversation } from './conversation.js';
export { childAgent } from './child-agent.js';
export { detachedWork } from './detached-work.js';
export { reconcileSweep } from './reconcile-sweep.js';
