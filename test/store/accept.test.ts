import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { acceptInput } from '../../store/turn/accept.js';
import { freshDatabase } from '../support/database.js';

const SENDERS = 8;
const ROUNDS = 400;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: SENDERS });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const accept = (requestId: string, text: string) =>
  acceptInput(pool, { agent: 'main', threadId: 'race', requestId, text, mode: 'queue', requester: 'tester', workflowId: 'holdfast/main/race' });

describe('one request that is sent by several senders at the same moment', () => {
  it('D2: is accepted once and a repeat for everybody else, in every round', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(Array.from({ length: SENDERS }, () => accept(`r${round}`, 'one')));
      expect(answers.map(({ kind }) => kind).sort()).toEqual(['accepted', ...Array.from({ length: SENDERS - 1 }, () => 'repeat')]);
      expect(new Set(answers.map(({ turnId }) => turnId)).size).toBe(1);
    }
  });

  it('D2: with other content it is accepted once and a conflict for those who sent something else', async () => {
    const answers = await Promise.all(Array.from({ length: SENDERS }, (_, sender) => accept('other', `text ${sender}`)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['accepted', ...Array.from({ length: SENDERS - 1 }, () => 'conflict')]);
  });
});
