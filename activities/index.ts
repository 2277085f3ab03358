import * as compensate from './compensate.js';
import * as detachedWork from './detached-work.js';
import * as byHand from './by-hand.js';
import { callChild } from './call-child.js';
import { callModel } from './call-model.js';
import { beating } from './beat.js';
import { finishChildAgent, startChildAgent } from './child-agent.js';
import { decide, editApproval, expireApproval } from './decide.js';
import type { ActivityDeps } from './deps.js';
import { endRemoteChild } from './end-remote-child.js';
import { withFailureMapping } from './failure.js';
import { outlastingOutage } from './insist.js';
import * as lifecycle from './lifecycle.js';
import { migrateTurn } from './migrate-turn.js';
import { performEffect } from './perform-effect.js';
import { propose } from './propose.js';
import { reconcileEffect, sweepEffects } from './reconcile-effect.js';
import { summarize } from './summarize.js';

/** All activities over their injected dependencies. Each loads by key, does one thing, records it and answers with references. */
export function createActivities(deps: ActivityDeps) {
  return withFailureMapping({
    ...bind(deps, lifecycle),
    ...bind(deps, byHand),
    ...bind(deps, compensate),
    ...bind(deps, detachedWork),
    ...bind(deps, { startChildAgent, finishChildAgent, decide, expireApproval }),
    ...bind(deps, beatingAll({ callModel, callChild, endRemoteChild, summarize, propose, editApproval, performEffect, reconcileEffect, sweepEffects, migrateTurn })),
  }, deps.log);
}

export type Activities = ReturnType<typeof createActivities>;

/** Activities that leave PostgreSQL heartbeat for as long as they run, also while it is away. */
function beatingAll<T extends Unbound>(activities: T): T {
  return Object.fromEntries(Object.entries(activities).map(([name, run]) => [name, (deps: ActivityDeps, input: never) => beating(() => outlastingOutage(deps.pool, () => run(deps, input)))])) as T;
}

type Unbound = Record<string, (deps: ActivityDeps, input: never) => Promise<unknown>>;
type Bound<T extends Unbound> = { [K in keyof T]: (input: Parameters<T[K]>[1]) => ReturnType<T[K]> };

function bind<T extends Unbound>(deps: ActivityDeps, activities: T): Bound<T> {
  return Object.fromEntries(Object.entries(activities).map(([name, run]) => [name, (input: never) => run(deps, input)])) as Bound<T>;
}
