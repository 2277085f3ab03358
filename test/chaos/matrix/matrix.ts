import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModel, type FakeModel } from '../../support/fake-model/index.js';
import { obedient } from '../kinds.js';
import { cutConnections, freezeWorker, killWorker, restartServer } from './faults.js';
import { CUTS, FAULTS, POINTS, type Point } from './points.js';
import { summaryOf, tableOf, writeReports } from './report.js';
import type { Row } from './row.js';
import { runStages } from './run.js';
import { startCrashingServers, type CrashingServers } from './servers.js';
import type { StageOptions } from './stage.js';

/** Points whose stages meet the same restart. */
const WAVES: { points: Point[] }[] = [{ points: POINTS.slice(0, 5) }, { points: POINTS.slice(5) }];

const rows: Row[] = [];
let model: FakeModel;
let servers: CrashingServers;
let options: StageOptions;

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  servers = await startCrashingServers();
  options = { servers, model, timeout: '2s' };
});

afterAll(async () => {
  const order = (row: Row) => FAULTS.indexOf(row.fault) * 100 + [...POINTS, ...CUTS].indexOf(row.point);
  rows.sort((a, b) => order(a) - order(b));
  console.log(`${tableOf(rows)}\n${summaryOf(rows)}`);
  await writeReports(rows, new Date().toISOString());
  await servers?.stop();
  await model?.close();
});

async function right(run: ReturnType<typeof runStages>): Promise<void> {
  const end = await run;
  rows.push(...end.rows);
  expect(end.problems).toEqual([]);
  expect(model.violations).toEqual([]);
}

describe('D36: no duplicate, no loss, and unknown only what nobody can know', () => {
  it.concurrent.each(POINTS)('D36, D13, case 02: a worker killed, %s', (point) => right(runStages([point], options, async ([stage]) => [await killWorker(stage!)])));

  it.concurrent.each(POINTS)('D36, D17, case 27: a worker frozen, replaced and thawed, %s', (point) => right(runStages([point], options, async ([stage]) => [await freezeWorker(stage!)])));

  it.concurrent.each(CUTS)('D36, D10: every connection cut, %s', (cut) => right(runStages([cut], options, async ([stage]) => [await cutConnections(stage!)])));

  // A call that stands at its point while everything comes up must not run out of time there.
  it.each(WAVES)('D36: PostgreSQL crashes and comes back, $points', ({ points }) =>
    right(runStages(points, { ...options, timeout: '8s' }, (stages) => restartServer(servers, 'postgres', stages))));

  it.each(WAVES)('D36: Temporal crashes and comes back, $points', ({ points }) =>
    right(runStages(points, { ...options, timeout: '8s' }, (stages) => restartServer(servers, 'temporal', stages))));
});
