import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toFailure } from '../../activities/failure.js';
import { insist } from '../../activities/insist.js';
import { claimCall } from '../../store/ledger/claim-call.js';
import { claimEffect } from '../../store/ledger/claim-effect.js';
import { finishCall } from '../../store/ledger/finish-call.js';
import { createPool, type Pool } from '../../store/pool.js';
import { budgetHit, closeBudget, openBudget, refuseOverBudget } from '../../store/turn/budget.js';
import { freshDatabase } from '../support/database.js';
import { uniqueName } from '../support/names.js';
import { seedTurn } from './views-seed.js';

const CALLERS = 12;
const CALLS = 60;
const NO_LIMIT = { modelCalls: null, tokens: null, costMicros: null, effects: null, wallTimeMs: null };
const USED = { inputTokens: 3, outputTokens: 2, costMicros: 7 };

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;
let tree: { root: string; middle: string; leaf: string };
let calls = 0;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: CALLERS });
  // Rows found by the index come in another order than that of their age, and a deadlock shows at once.
  await pool.query(`do $$ begin execute format('alter database %I set enable_seqscan = off', current_database()); execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$`);
  await pool.end();
  pool = createPool({ dsn: database.dsn, max: CALLERS });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** Three levels, each with a budget; the younger a turn is, the smaller its id. */
beforeEach(async () => {
  const name = uniqueName('tree');
  tree = { root: `${name}-c`, middle: `${name}-b`, leaf: `${name}-a` };
  let budgets: string[] | null = null;
  for (const id of [tree.root, tree.middle, tree.leaf]) {
    await seedTurn(pool, { id, root: tree.root });
    await pool.query('update holdfast.turn set budgets = $2 where turn_id = $1', [id, budgets]);
    await openBudget(pool, id, NO_LIMIT);
    budgets = (await pool.query<{ budgets: string[] }>('select budgets from holdfast.turn where turn_id = $1', [id])).rows[0]!.budgets;
  }
});

const limit = (turn: string, column: string, value: number) => pool.query(`update holdfast.budget set ${column} = $2 where turn_id = $1`, [turn, value]);
const budgetOf = async (turn: string): Promise<object> => (await pool.query(
  'select model_calls::int as calls, tokens::int, cost_micros::int as cost, effects::int, in_flight as "inFlight", reserved_tokens::int as reserved, reserved_micros::int as "reservedCost", exceeded from holdfast.budget where turn_id = $1', [turn],
)).rows[0] as object;

function claim(turnId: string, key: string, paid = true) {
  return claimCall(pool, {
    key, turnId, step: (calls += 1), idx: 0, kind: 'child', name: 'helper', physicalCallId: randomUUID(), timeoutMs: 1000, definitionDigest: null as unknown as string,
    reserve: paid ? { tokens: 50, micros: 90 } : null,
  });
}

async function finish(key: string, generation: number): Promise<void> {
  expect(await finishCall(pool, { key, generation, physicalCallId: '', state: 'succeeded', result: 'done', reason: null, ...USED })).toBe(true);
}

async function effect(turnId: string): Promise<string> {
  const key = `${turnId}.${(calls += 1)}.0`;
  await pool.query(`insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, args, args_digest) values ($1, $2, $3, 0, 'effect', 'reserve', '{}', 'd')`, [key, turnId, calls]);
  return key;
}

const claimOne = (key: string) => claimEffect(pool, { key, generation: null, beforeMs: null, physicalCallId: randomUUID(), timeoutMs: 1000 });

describe('budgets of a tree of three levels', () => {
  it('D33: are reserved and settled by many calls at once without any of them failing, and every count is exact', async () => {
    const turns = [tree.root, tree.middle, tree.leaf];
    await Promise.all(Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = 0; n < CALLS; n += 1) {
        const turn = turns[(caller + n) % turns.length]!;
        const key = `${turn}.${caller}.${n}`;
        const claimed = await claim(turn, key);
        if (claimed.kind === 'claimed') await finish(key, claimed.generation);
      }
    }));
    const each = (CALLERS * CALLS) / turns.length;
    const after = (n: number) => ({ calls: n, tokens: n * 5, cost: n * 7, effects: 0, inFlight: 0, reserved: 0, reservedCost: 0, exceeded: null });
    expect(await Promise.all(turns.map(budgetOf))).toEqual([after(3 * each), after(2 * each), after(each)]);
  });

  it('D17, D33: what a killed worker had reserved is kept for whoever takes its call over, and given back when that one ends it', async () => {
    const key = `${tree.leaf}.k`;
    await claim(tree.leaf, key);
    const reserved = { inFlight: 1, reserved: 50, reservedCost: 90, calls: 1 };
    expect(await budgetOf(tree.root)).toMatchObject(reserved);
    const second = await claim(tree.leaf, key);
    expect(second).toMatchObject({ kind: 'claimed', generation: 2 });
    expect(await budgetOf(tree.root)).toMatchObject(reserved);
    await finish(key, 2);
    expect(await budgetOf(tree.root)).toMatchObject({ inFlight: 0, reserved: 0, reservedCost: 0, tokens: 5 });
  });
});

it.each(['40P01', '40001'])('D12, D35: an answer whose settlement the database undid for the sake of others (%s) is kept at the next try, not asked for again', async (code) => {
  const key = `${tree.leaf}.s`;
  await claim(tree.leaf, key);
  // A sequence is not rolled back: the first settlement is undone, the next one is not.
  await pool.query(`create sequence holdfast.undone; create function holdfast.undo_once() returns trigger language plpgsql as $$ begin
    if nextval('holdfast.undone') = 1 then raise exception 'undone for others' using errcode = '${code}'; end if; return new; end $$;
    create trigger undo_once before update on holdfast.budget for each row execute function holdfast.undo_once()`);
  let tries = 0;
  await insist(() => { tries += 1; return finish(key, 1); });
  await pool.query('drop function holdfast.undo_once cascade; drop sequence holdfast.undone');
  expect(tries).toBe(2);
  expect(await budgetOf(tree.root)).toMatchObject({ inFlight: 0, reserved: 0, tokens: 5 });
  expect(toFailure(Object.assign(new Error('undone'), { code }))).toMatchObject({ type: 'retryable', nonRetryable: false });
});

describe('a limit that is hit', () => {
  it('D33: ends the effect and closes the budget together: when the closing fails, the effect is not told as refused', async () => {
    await limit(tree.root, 'effects_limit', 0);
    const key = await effect(tree.leaf);
    const hit = budgetHit(await claimOne(key).catch((error: unknown) => error))!;
    expect(hit).toEqual({ limit: 'effects', owner: tree.root });
    await pool.query(`alter table holdfast.budget add constraint never_closed check (exceeded is null) not valid`);
    await expect(refuseOverBudget(pool, key, hit)).rejects.toMatchObject({ code: '23514' });
    await pool.query('alter table holdfast.budget drop constraint never_closed');
    expect((await pool.query('select state from holdfast.ledger_entry where key = $1', [key])).rows).toEqual([{ state: 'pending' }]);
    await refuseOverBudget(pool, key, hit);
    expect((await pool.query('select state, reason from holdfast.ledger_entry where key = $1', [key])).rows).toEqual([{ state: 'failed', reason: 'The budget is used up: effects.' }]);
    expect(await budgetOf(tree.root)).toMatchObject({ exceeded: 'effects' });
  });

  it('D33: lets nothing more of the tree begin, whatever it would use', async () => {
    await closeBudget(pool, { limit: 'effects', owner: tree.middle });
    const key = await effect(tree.leaf);
    for (const begin of [() => claim(tree.leaf, `${tree.leaf}.p`), () => claim(tree.leaf, `${tree.leaf}.u`, false), () => claimOne(key)]) {
      expect(budgetHit(await begin().catch((error: unknown) => error))).toEqual({ limit: 'effects', owner: tree.middle });
    }
    expect(await claim(tree.root, `${tree.root}.u`, false)).toMatchObject({ kind: 'claimed' });
    expect(toFailure(await claim(tree.leaf, `${tree.leaf}.u`, false).catch((error: unknown) => error))).toMatchObject({ type: 'terminal', message: 'The budget is used up: effects.' });
  });
});
