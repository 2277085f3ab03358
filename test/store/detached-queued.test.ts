import { afterAll, beforeAll, expect, it } from 'vitest';
import { leftBehind } from '../../store/detached/queued.js';
import { createPool, type Pool } from '../../store/pool.js';
import { freshDatabase } from '../support/database.js';
import { seedEntry, seedTurn } from './views-seed.js';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 2 });
  await seedTurn(pool, { id: 'owner', ended: true, status: 'failed' });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function detached(id: string, step: number, { kind, status = 'queued', state, ageS }: { kind: 'work' | 'compensation'; status?: string; state: string; ageS: number }): Promise<void> {
  await seedTurn(pool, { id, thread: `~${id}`, status });
  const key = await seedEntry(pool, { turn: 'owner', step, idx: 0, kind: kind === 'work' ? 'child' : 'effect', name: 'it', state });
  await pool.query(
    `insert into holdfast.detached (turn_id, kind, key, owner_turn_id, agent, thread_id, asked_by, created_at) values ($1, $2, $3, 'owner', 'booking', 'th', 'kim', now() - make_interval(secs => $4))`,
    [id, kind, key, ageS],
  );
}

it('D15, D27, D29, D30: what was left behind is started, but not what has just been stored, was taken up, or is work whose call was cancelled', async () => {
  await detached('undo', 1, { kind: 'compensation', state: 'succeeded', ageS: 60 });
  await detached('undo-new', 2, { kind: 'compensation', state: 'succeeded', ageS: 0 });
  await detached('undo-running', 3, { kind: 'compensation', state: 'succeeded', status: 'working', ageS: 60 });
  await detached('work', 4, { kind: 'work', state: 'pending', ageS: 60 });
  await detached('work-cancelled', 5, { kind: 'work', state: 'cancelled', ageS: 60 });
  expect(await leftBehind(pool, 10)).toEqual([
    { agent: 'booking', threadId: '~undo', turnId: 'undo', workflowId: 'wf-undo', undoes: true },
    { agent: 'booking', threadId: '~work', turnId: 'work', workflowId: 'wf-work', undoes: false },
  ]);
  expect(await leftBehind(pool, 1)).toHaveLength(1);
});
