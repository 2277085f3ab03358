import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { PGBOUNCER, startPgBouncer, type Pooler } from '../support/pgbouncer.js';
import { testToml } from '../support/toml.js';
import { waitFor } from '../support/wait.js';

const TURNS = 30;
const POOL_SIZE = 3;

let model: FakeModel;
let pooler: Pooler;
let engine: Engine;
let direct: Pool;

beforeAll(async () => {
  if (PGBOUNCER === null) return;
  model = await startFakeModel();
  pooler = await startPgBouncer(PGBOUNCER, inject('postgresDsn'), POOL_SIZE);
  engine = await startEngine(testToml({ modelUrl: model.url }), {}, { temporalAddress: inject('temporalAddress'), postgresDsn: pooler.dsn });
  direct = createPool({ dsn: inject('postgresDsn'), max: 1 });
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await direct?.end();
  await pooler?.stop();
  await model?.close();
});

/** Sessions of the engine's database, as PostgreSQL itself sees them. */
async function sessions(): Promise<{ pid: number; state: string; waits: boolean }[]> {
  const { rows } = await direct.query<{ pid: number; state: string; waits: boolean }>(
    `select pid, coalesce(state, '') as state, exists (select from pg_locks l where l.pid = a.pid and not l.granted) as waits
     from pg_stat_activity a where datname = $1 and backend_type = 'client backend'`,
    [new URL(engine.env.POSTGRES_ORCH_DSN!).pathname.slice(1)],
  );
  return rows;
}

const endAll = async () => Promise.all((await sessions()).map(({ pid }) => direct.query('select pg_terminate_backend($1)', [pid])));

describe('behind a pooler', () => {
  it.skipIf(PGBOUNCER === null)('D35, C13, case 45: behind PgBouncer in transaction mode with three connections, 30 turns at once end well although every connection is ended while their models think', async () => {
    const answers: (() => void)[] = [];
    model.script(async () => {
      await new Promise<void>((answer) => answers.push(answer));
      return { text: 'answered' };
    });
    const turns = await Promise.all(Array.from({ length: TURNS }, (_, n) => engine.client.submit({ agent: 'main', threadId: `pooled-${n}`, requestId: 'one', text: `number ${n}`, as: 'tester' })));
    await waitFor(() => Promise.resolve(answers.length === TURNS), { what: 'every model to think', timeoutMs: 40_000 });

    // No connection is held while models think: none is busy, and none is inside a transaction.
    const thinking = await waitFor(async () => { const seen = await sessions(); return seen.every(({ state }) => state === 'idle') && seen; }, { what: 'every connection to be idle' });
    expect(thinking.length).toBeLessThanOrEqual(POOL_SIZE);
    await endAll();
    answers.slice(0, TURNS / 2).forEach((answer) => answer());
    // Once more in the middle of the commits.
    await endAll();
    answers.slice(TURNS / 2).forEach((answer) => answer());

    for (const { turnId } of turns) expect(await engine.settled(turnId)).toMatchObject({ status: 'completed', text: 'answered', usage: { modelCalls: 1 } });
    expect(model.requests).toHaveLength(TURNS);
    expect((await sessions()).filter(({ state, waits }) => waits || state.startsWith('idle in transaction'))).toEqual([]);
  });
});
