import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Temporal } from '../../dev/temporal/start.js';
import { uniqueName } from '../support/names.js';
import { rollOver, startShortRuns } from '../support/short-runs.js';
import { startVersions, type Versions } from '../support/versions-rig.js';

let temporal: Temporal;
let rig: Versions;

beforeAll(async () => {
  temporal = await startShortRuns();
  rig = await startVersions({ TEMPORAL_ADDRESS: temporal.address });
});
afterAll(async () => {
  await rig?.close();
  await temporal?.stop();
});

it('D1, D34: before a model call, and the run continues as new: migrated, the same step is asked for, once', async () => {
  const text = `guard ${uniqueName('text')}`;
  const turn = await rig.engine.send(text);
  await rig.release({ prompt: 'two' }, () => rig.foreign(turn.definition));
  const [approval] = turn.approvals;
  await rig.engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'reject', as: 'boss' });
  await rig.engine.until(turn.turnId, 'needs_migration');
  await rollOver(rig.engine, turn.workflowId);
  expect(await rig.engine.until(turn.turnId, 'needs_migration')).toMatchObject({ steps: 2 });
  expect(await rig.migrate(turn)).toMatchObject({ result: 'migrated' });
  expect(await rig.engine.until(turn.turnId, 'completed')).toMatchObject({ steps: 3 });
  expect(rig.asked(text)).toHaveLength(3);
  const { rows } = await rig.engine.pool.query(`select step from holdfast.ledger_entry where turn_id = $1 and kind = 'model' order by step`, [turn.turnId]);
  expect(rows).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }]);
  expect(rig.model.violations).toEqual([]);
});

it('D1, D3, D34: before it has begun, and the run continues as new: it is opened when its definition is back, before what waits behind it', async () => {
  await rig.release({});
  await rig.engine.pool.query(`update holdfast.definition set body = body - 'fromTheFuture'`);
  await rig.release({ prompt: 'three' });
  const front = await rig.engine.send(`guard ${uniqueName('text')}`);
  const next = () => rig.engine.client.submit({ agent: 'main', threadId: front.threadId, text: 'next', as: 'tester' });
  const [first, second] = [await next(), await next()];
  await rig.release({ prompt: 'three' }, () => rig.foreign(front.definition));
  await rig.engine.client.cancel(front.turnId, { as: 'tester' });
  await rig.engine.until(first.turnId, 'needs_migration');
  await rollOver(rig.engine, front.workflowId);
  await rig.release({ prompt: 'three' }, () => rig.ours(front.definition));
  await rig.engine.until(second.turnId, 'completed');
  const ended = (await rig.engine.pool.query<{ turn_id: string; status: string }>('select turn_id, status from holdfast.turn where thread_id = $1 order by ended_at', [front.threadId])).rows;
  expect(ended).toEqual([front, first, second].map(({ turnId }, index) => ({ turn_id: turnId, status: index === 0 ? 'cancelled' : 'completed' })));
  expect(rig.model.violations).toEqual([]);
});
