import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { waitFor } from '../support/wait.js';
import { callsOf, postgresToml, SEAT } from './postgres-kinds.js';

let model: FakeModel;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  model.script(plays({ frozen: [callsOf({ own: 1 })] }));
  engine = await startEngine(postgresToml(model.url), { APP_DSN: 'postgres://unused@127.0.0.1:1/none' });
  await engine.pool.query(SEAT);
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const seats = async (turnId: string) => (await engine.pool.query('select from public.seat where key like $1', [`${turnId}.%`])).rowCount;

it('D17, D18: a worker that is frozen in the middle of the transaction is fenced: another one does it, and what it wakes up to is undone', async () => {
  const frozen = await engine.worker({ at: 'in_transaction', signal: 'SIGSTOP' });
  const { turnId } = await engine.client.submit({ agent: 'main', text: 'frozen', as: 'tester' });
  await frozen.reached;
  await engine.worker();
  const turn = await engine.until(turnId, 'completed');
  frozen.signal('SIGCONT');
  expect(turn.effects).toMatchObject([{ state: 'succeeded' }]);
  const entry = () => engine.client.ledgerEntry(turn.effects[0]!.key);
  await waitFor(async () => (await entry()).evidence.some(({ note }) => note.includes('ended late')), { what: 'the frozen worker to report' });
  expect(await seats(turnId)).toBe(1);
  expect((await entry()).state).toBe('succeeded');
});
