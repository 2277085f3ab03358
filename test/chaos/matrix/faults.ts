import type { CancelAnswer } from '../../../contracts/steps.js';
import type { TestWorker } from '../../support/engine.js';
import type { CrashingServers } from './servers.js';
import type { Stage } from './stage.js';
import type { Fault } from './points.js';

/** A stage after its fault. Times are milliseconds since the epoch. */
export interface Struck {
  stage: Stage;
  fault: Fault;
  /** From here on nothing is missing any more: a worker or the server is back, or the connection is cut. */
  backAt: number;
  /** The worker that takes over, where one does. */
  heir: TestWorker | null;
  /** Answer to a cancel that was sent at once with the fault. */
  cancelled: Promise<CancelAnswer> | undefined;
  /** Lets a frozen worker do whatever it still wants to do, to its end. */
  thaw: (() => Promise<void>) | null;
}

export async function killWorker(stage: Stage): Promise<Struck> {
  const cancelled = stage.cancel();
  stage.worker.signal('SIGKILL');
  await stage.worker.exited;
  const heir = await stage.nextWorker();
  return { stage, fault: 'worker_killed', backAt: Date.now(), heir, cancelled, thaw: null };
}

export async function freezeWorker(stage: Stage): Promise<Struck> {
  const { worker } = stage;
  const cancelled = stage.cancel();
  worker.signal('SIGSTOP');
  const heir = await stage.nextWorker();
  const thaw = async () => {
    worker.signal('SIGCONT');
    worker.release();
    // It ends in order once every call it still had in hand has come to its end.
    worker.signal('SIGTERM');
    await worker.exited;
  };
  return { stage, fault: 'worker_frozen', backAt: Date.now(), heir, cancelled, thaw };
}

/** All stages meet the same restart. What stands at a point goes on while the server is away. */
export async function restartServer(servers: CrashingServers, what: 'postgres' | 'temporal', stages: Stage[]): Promise<Struck[]> {
  const cancels = stages.map((stage) => stage.cancel());
  await servers.restart(what, () => stages.forEach(({ worker }) => worker.release()));
  const backAt = Date.now();
  return stages.map((stage, i) => ({ stage, fault: `${what}_restarted`, backAt, heir: null, cancelled: cancels[i], thaw: null }));
}

/** Cuts the connection of every call while its target holds the request. */
export async function cutConnections(stage: Stage): Promise<Struck> {
  await stage.booking.setFaults({ dropNext: { count: stage.kinds.length, when: stage.point === 'call_before_effect' ? 'before' : 'after' } });
  await stage.booking.release();
  return { stage, fault: 'connection_cut', backAt: Date.now(), heir: null, cancelled: undefined, thaw: null };
}
