import { isAlive } from '../../../dev/alive.js';
import { follow, type Aftermath } from './aftermath.js';
import type { Struck } from './faults.js';
import type { Cut, Point } from './points.js';
import { setStage, type Stage, type StageOptions } from './stage.js';

/**
 * Brings turns to their points, all at the same time, strikes, and follows each to its end. Also wrong: a worker that ended by itself, one
 * that is left over, and a run that cannot be replayed.
 */
export async function runStages(points: (Point | Cut)[], options: StageOptions, strike: (stages: Stage[]) => Promise<Struck[]>): Promise<Aftermath> {
  const set = await Promise.all(points.map((point) => setStage(point, options)));
  const closed = new Set<() => Promise<void>>();
  try {
    const struck = await strike(await Promise.all(set.map(({ submit }) => submit())));
    const ends = await Promise.all(struck.map(async (one, i): Promise<Aftermath> => {
      const { rows, problems } = await follow(one);
      const where = `${one.fault}, ${one.stage.point}`;
      const lost = one.heir === null && !isAlive(one.stage.worker.pid) ? [`${where}: the worker ended by itself`] : [];
      closed.add(set[i]!.close);
      const unreplayable = await set[i]!.close().then(() => [], (error: unknown) => [`${where}: ${String(error)}`]);
      const left = one.stage.pids.filter(isAlive).map((pid) => `${where}: the worker ${pid} is left over`);
      return { rows, problems: [...problems, ...lost, ...unreplayable, ...left] };
    }));
    return { rows: ends.flatMap(({ rows }) => rows), problems: ends.flatMap(({ problems }) => problems) };
  } finally {
    await Promise.all(set.filter(({ close }) => !closed.has(close)).map(({ close }) => close()));
  }
}
