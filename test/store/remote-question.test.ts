import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool, type Pool } from '../../store/pool.js';
import { failCall, notePhysicalCall } from '../../store/ledger/finish-call.js';
import { beginSend, claimRemote, finishRemote } from '../../store/ledger/remote-call.js';
import { freshDatabase } from '../support/database.js';
import { seedOpenTurn } from '../support/ledger-rig.js';

let pool: Pool;
let drop: () => Promise<void>;
let calls = 0;

beforeAll(async () => {
  const database = await freshDatabase();
  drop = database.drop;
  pool = createPool({ dsn: database.dsn, max: 2 });
  await seedOpenTurn(pool);
});

afterAll(async () => {
  await pool?.end();
  await drop?.();
});

/** A call of `child` in the hands of a worker. */
async function call(child: string) {
  calls += 1;
  const key = `t.1.${calls}`;
  await pool.query(`insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, args, args_digest) values ($1, 't', 1, $2, 'child', $3, '{}', 'd')`, [key, calls, child]);
  const claim = await claimRemote(pool, key);
  if (claim.kind !== 'claimed') throw new Error(`${key} is ${claim.state}`);
  return { key, generation: claim.generation, continues: claim.continues };
}

const finish = ({ key, generation }: { key: string; generation: number }, physicalCallId: string, state: 'succeeded' | 'failed', more: { question?: string; answered?: boolean } = {}) =>
  finishRemote(pool, { key, generation, physicalCallId, state, result: null, reason: null, question: null, answered: false, ...more });

async function send(item: { key: string; generation: number }): Promise<string> {
  const id = randomUUID();
  expect(await beginSend(pool, item.key, item.generation, id)).toBe(true);
  return id;
}

/** A child whose task waits for an answer, and the call that has taken the question. */
async function answering(child: string) {
  const asked = await call(child);
  await finish(asked, await send(asked), 'succeeded', { question: `task of ${child}` });
  const answer = await call(child);
  expect(answer.continues).toBe(`task of ${child}`);
  return answer;
}

type Answer = Awaited<ReturnType<typeof answering>>;
const fails = (end: (answer: Answer) => Promise<unknown>) => end;

describe('a question of a remote agent that a call was to answer', () => {
  it.each([
    ['it was never sent', fails((answer) => failCall(pool, answer.key, 'no worker'))],
    ['it could not be sent', fails(async (answer) => { await notePhysicalCall(pool, await send(answer), 'not_sent', 'refused'); await failCall(pool, answer.key, 'given up'); })],
    ['it was rejected', fails(async (answer) => finish(answer, await send(answer), 'failed'))],
    ['its turn was cancelled before', fails((answer) => pool.query(`update holdfast.ledger_entry set state = 'cancelled', version = version + 1 where key = $1`, [answer.key]))],
  ])('D32: %s → the next call answers the question', async (why, end) => {
    await end(await answering(why));
    expect((await call(why)).continues).toBe(`task of ${why}`);
    // It is taken once.
    expect((await call(why)).continues).toBeNull();
  });

  it.each([
    ['it was answered', fails(async (answer) => finish(answer, await send(answer), 'succeeded'))],
    ['it was rejected and the task waits no more', fails(async (answer) => finish(answer, await send(answer), 'failed', { answered: true }))],
    ['nobody knows whether it came', fails(async (answer) => { await notePhysicalCall(pool, await send(answer), 'uncertain', 'cut'); await failCall(pool, answer.key, 'given up'); })],
    ['it was on its way when its worker died', fails(async (answer) => { await send(answer); await failCall(pool, answer.key, 'given up'); })],
  ])('D13: %s → the question is not answered a second time', async (why, end) => {
    await end(await answering(why));
    expect((await call(why)).continues).toBeNull();
  });
});
