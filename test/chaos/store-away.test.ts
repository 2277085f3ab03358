import { afterAll, beforeAll, expect, it } from 'vitest';
import { insist, outlastingOutage } from '../../activities/insist.js';
import { createPool, type Pool } from '../../store/pool.js';
import { startCrashingServers, type CrashingServers } from './matrix/servers.js';

let servers: CrashingServers;
let pool: Pool;

beforeAll(async () => {
  servers = await startCrashingServers();
  pool = createPool({ dsn: servers.postgresDsn, max: 2 });
});

afterAll(async () => {
  await pool?.end();
  await servers?.stop();
});

const one = async () => (await pool.query<{ one: number }>('select 1 as one')).rows[0]?.one;

/** Begins `work` while PostgreSQL is away and answers what it comes to. */
async function whileAway<T>(work: () => Promise<T>): Promise<T> {
  const begun: Promise<T>[] = [];
  await servers.restart('postgres', () => begun.push(work()));
  return begun[0]!;
}

it('D13, D35: a result that is to be kept while PostgreSQL is away is kept once it is back', async () => {
  expect(await whileAway(() => insist(one))).toBe(1);
});

it('D35: a step that PostgreSQL makes fail by its absence does not fail before it is back, so that its next attempt finds it', async () => {
  // Without the wait the question that follows the failure meets the same absent server.
  expect(await whileAway(() => outlastingOutage(pool, one).catch(() => one()))).toBe(1);
});

it('D35: what is wrong for another reason fails at once, and once', async () => {
  let tries = 0;
  const wrong = () => {
    tries += 1;
    return pool.query('select nothing from nowhere');
  };
  await expect(insist(wrong)).rejects.toMatchObject({ code: '42P01' });
  await expect(outlastingOutage(pool, wrong)).rejects.toMatchObject({ code: '42P01' });
  expect(tries).toBe(2);
});
