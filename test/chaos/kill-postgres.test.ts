import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { freshDatabase } from '../support/database.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { callsOf, postgresToml, SEAT } from './postgres-kinds.js';

const POINTS = ['after_dispatch', 'in_transaction', 'after_effect'] as const;

let model: FakeModel;
let other: Awaited<ReturnType<typeof freshDatabase>>;
let otherPool: Pool;
const engines: Engine[] = [];

beforeAll(async () => {
  model = await startFakeModel();
  model.script(plays({ one: [callsOf({ own: 1 })], marked: [callsOf({ marked: 1 })], owns: [callsOf({ own: 25 })], markeds: [callsOf({ marked: 25 })] }));
  other = await freshDatabase();
  otherPool = createPool({ dsn: other.dsn, max: 2 });
  await otherPool.query(SEAT);
});

afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await otherPool?.end();
  await other?.drop();
  await model?.close();
});

async function engineWithSeats(): Promise<Engine> {
  const engine = await startEngine(postgresToml(model.url), { APP_DSN: other.dsn });
  engines.push(engine);
  await engine.pool.query(SEAT);
  return engine;
}

/** Rows by key at both targets. */
async function rowsOf(engine: Engine, turnId: string): Promise<Map<string, number>> {
  const counts = await Promise.all([engine.pool, otherPool].map((pool) => pool.query<{ key: string; n: number }>('select key, count(*)::int as n from public.seat where key like $1 group by key', [`${turnId}.%`])));
  return new Map(counts.flatMap(({ rows }) => rows.map(({ key, n }): [string, number] => [key, n])));
}

it('D36, D18: in the ledger\'s own database, an effect whose workers are killed at one point after the other leaves one row and a settled entry, and nobody is asked', async () => {
  const engine = await engineWithSeats();
  const submitted = engine.client.submit({ agent: 'main', text: 'one', as: 'tester' });
  for (const at of POINTS) {
    const worker = await engine.worker({ at, signal: 'SIGKILL' });
    await worker.exited;
  }
  await engine.worker();
  const { turnId } = await submitted;
  const turn = await engine.until(turnId, 'completed');
  expect(turn.effects).toMatchObject([{ state: 'succeeded', externalId: expect.stringMatching(/^\d+$/) as string }]);
  expect([...(await rowsOf(engine, turnId)).values()]).toEqual([1]);
  const { attempts } = await engine.client.ledgerEntry(turn.effects[0]!.key);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['absent', 'absent', 'succeeded']);
  expect(model.violations).toEqual([]);
}, 100_000);

it('D36, D18: on another server, a worker killed after the commit finds its marker and makes no second row', async () => {
  const engine = await engineWithSeats();
  const worker = await engine.worker({ at: 'after_effect', signal: 'SIGKILL' });
  const { turnId } = await engine.client.submit({ agent: 'main', text: 'marked', as: 'tester' });
  await worker.exited;
  await engine.worker();
  const turn = await engine.until(turnId, 'completed');
  expect(turn.effects).toMatchObject([{ state: 'reconciled', outcome: 'succeeded', externalId: expect.stringMatching(/^\d+$/) as string }]);
  expect([...(await rowsOf(engine, turnId)).values()]).toEqual([1]);
});

it('D36, D18: fifty at once in both kinds of database, with workers killed among them: one row for each, none twice, none lost', async () => {
  const engine = await engineWithSeats();
  const kills = [['in_transaction', 3], ['after_effect', 4], ['after_dispatch', 2], ['before_send', 5]] as const;
  const submitted = Promise.all(['owns', 'markeds'].map((text) => engine.client.submit({ agent: 'main', text, as: 'tester' })));
  for (const [at, count] of kills) {
    const worker = await engine.worker({ at, signal: 'SIGKILL', count });
    await worker.exited;
  }
  await engine.worker();
  const turns = await Promise.all((await submitted).map(({ turnId }) => engine.until(turnId, 'completed')));
  for (const turn of turns) {
    expect(turn.effects.map((effect) => effect.state).filter((state) => state !== 'succeeded' && state !== 'reconciled')).toEqual([]);
    const rows = await rowsOf(engine, turn.turnId);
    expect([...rows].filter(([, count]) => count !== 1)).toEqual([]);
    expect([...rows.keys()].sort()).toEqual(turn.effects.map((effect) => effect.key).sort());
    expect(rows.size).toBe(25);
  }
  expect(model.violations).toEqual([]);
}, 100_000);
