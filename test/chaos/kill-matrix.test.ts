import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { obedient } from './kinds.js';
import { killWorker, restartServer } from './matrix/faults.js';
import { tableOf } from './matrix/report.js';
import { runStages } from './matrix/run.js';
import { startCrashingServers, type CrashingServers } from './matrix/servers.js';

/** The short form of the kill matrix; `npm run test:chaos` runs all of it (D36). */
let model: FakeModel;
let servers: CrashingServers;

beforeAll(async () => {
  model = await startFakeModel();
  model.script(obedient);
  servers = await startCrashingServers();
});

afterAll(async () => {
  await servers?.stop();
  await model?.close();
});

async function right(run: ReturnType<typeof runStages>): Promise<void> {
  const { rows, problems } = await run;
  console.log(tableOf(rows));
  expect(problems).toEqual([]);
  expect(model.violations).toEqual([]);
}

it('D36, D13, D16, case 02: a worker killed at any point of any kind of effect makes no duplicate and no loss; what cannot be known is unknown and a person decides', () =>
  right(runStages(['before_dispatch', 'after_dispatch', 'before_send', 'after_effect', 'after_record'], { servers: undefined, model, timeout: '2s' },
    (stages) => Promise.all(stages.map(killWorker)))), 120_000);

it('D36, D13: PostgreSQL crashes while a worker has an answer in hand → the worker lives on and records it, also for an effect that nobody could look up', () =>
  right(runStages(['after_effect', 'before_report'], { servers, model, timeout: '8s' }, (stages) => restartServer(servers, 'postgres', stages))), 120_000);
