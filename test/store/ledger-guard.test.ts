import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerStateSchema, type LedgerState } from '../../contracts/ledger.js';
import { createPool, type Pool } from '../../store/pool.js';
import { giveUpUnsent } from '../../store/ledger/reconcile.js';
import { freshDatabase } from '../support/database.js';
import { seedProposal, seedTurn } from './views-seed.js';

const STATES = ledgerStateSchema.options;
const SETTLED: LedgerState[] = ['succeeded', 'failed', 'reconciled', 'cancelled', 'conflict'];
const KINDS = ['effect', 'model', 'child', 'summary', 'input'];

let database: Awaited<ReturnType<typeof freshDatabase>>;
let pool: Pool;
let seeded = 0;

beforeAll(async () => {
  database = await freshDatabase();
  pool = createPool({ dsn: database.dsn, max: 4 });
  await seedTurn(pool, { id: 't' });
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/** A new entry in a state, of generation 3. */
async function entry(state: LedgerState, kind = 'effect', needsApproval = false): Promise<string> {
  const key = `t.${(seeded += 1)}.0`;
  await pool.query(
    `insert into holdfast.ledger_entry (key, turn_id, step, idx, kind, name, state, outcome, generation, args, args_digest, needs_approval, dispatched_at)
     values ($1, 't', $2, 0, $3, 'reserve', $4, $5, 3, '{"people":4}', 'd', $6, now())`,
    [key, seeded, kind, state, state === 'reconciled' ? 'succeeded' : null, needsApproval]);
  return key;
}

/** `ok`, or the code of the rule that refused the change. */
async function change(key: string, set: string): Promise<string> {
  return pool.query(`update holdfast.ledger_entry set ${set} where key = $1`, [key]).then(() => 'ok', (error: { code: string }) => error.code);
}

const move = (key: string, to: LedgerState): Promise<string> =>
  change(key, `state = '${to}', outcome = ${to === 'reconciled' ? `'succeeded'` : 'null'}, generation = generation + 1, dispatched_at = now()`);

/** Edges of the table "Legal transitions" as `kind: from>to`. */
async function published(): Promise<string[]> {
  const text = await readFile(new URL('../../docs/ledger.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| `(\w+)` \| (effect|call|effect, call) \| .+ \|$/gm)];
  return rows.flatMap(([, from, to, of]) => of!.split(', ').flatMap((kind) => (kind === 'effect' ? ['effect'] : KINDS.slice(1)).map((each) => `${each}: ${from}>${to}`)));
}

describe('the ledger in the database', () => {
  it('D10: of all pairs of states, for every kind of entry, exactly the transitions published in docs/ledger.md are possible', async () => {
    const legal: string[] = [];
    for (const kind of KINDS) {
      for (const from of STATES) {
        for (const to of STATES.filter((state) => state !== from)) {
          const answer = await move(await entry(from, kind), to);
          if (answer === 'ok') legal.push(`${kind}: ${from}>${to}`);
          else expect(answer, `${kind}: ${from}>${to}`).toBe('HF006');
        }
      }
    }
    expect(legal.sort()).toEqual((await published()).sort());
  });

  it.each(STATES)('D17: the generation of an entry that is %s never falls', async (state) => {
    expect(await change(await entry(state), 'generation = generation - 1')).toBe('HF003');
  });

  it.each(['dispatched', 'unknown'] as const)('D10, D17: an entry that is %s is dispatched again only under a higher generation', async (state) => {
    const key = await entry(state);
    expect(await change(key, `state = 'dispatched', dispatched_at = now()`)).toBe('HF003');
    expect(await move(key, 'dispatched')).toBe('ok');
  });

  it.each(STATES)('D14: arguments of an entry that is %s change only before it was dispatched, also without their digest', async (state) => {
    const [both, silently] = [await change(await entry(state), `args = '{"people":5}', args_digest = 'e'`), await change(await entry(state), `args = '{"people":5}'`)];
    expect([both, silently]).toEqual(state === 'pending' ? ['ok', 'ok'] : ['HF004', 'HF004']);
  });

  it.each(SETTLED)('D10: a settled entry that is %s is fixed in every column', async (state) => {
    const sets = [`external_id = 'other'`, `result = '"other"'`, `reason = 'other'`, 'version = version + 1', 'generation = generation + 1', 'input_tokens = 9'];
    for (const set of sets) expect(await change(await entry(state), set), set).toBe('HF005');
  });

  it('D9, D11: what an entry is never changes, nor whether it needs an approval', async () => {
    for (const set of [`key = 'x'`, 'step = 99', 'idx = 5', `kind = 'child'`, `name = 'other'`, 'needs_approval = false']) {
      expect(await change(await entry('pending', 'effect', true), set), set).toBe('HF002');
    }
  });

  it.each([
    { state: null, digest: 'd', answer: 'HF007' }, { state: 'pending', digest: 'd', answer: 'HF007' }, { state: 'rejected', digest: 'd', answer: 'HF007' },
    { state: 'expired', digest: 'd', answer: 'HF007' }, { state: 'approved', digest: 'e', answer: 'HF007' }, { state: 'approved', digest: 'd', answer: 'ok' },
  ])('D21, case 03: with a proposal that is $state, covering arguments $digest, dispatching the arguments d is $answer', async ({ state, digest, answer }) => {
    const key = await entry('pending', 'effect', true);
    if (state !== null) await seedProposal(pool, { id: `apr-${key}`, key, turn: 't', state });
    await pool.query('update holdfast.proposal set args_digest = $2 where key = $1', [key, digest]);
    expect(await move(key, 'dispatched')).toBe(answer);
  });

  it('D21: an approval of other arguments cannot be used by changing the arguments in the same statement', async () => {
    const key = await entry('pending', 'effect', true);
    await seedProposal(pool, { id: `apr-${key}`, key, turn: 't', state: 'approved' });
    expect(await change(key, `state = 'dispatched', generation = 4, args = '{"people":9}', args_digest = 'e'`)).toBe('HF007');
  });

  it.each(['completed', 'cancelled', 'failed', 'rejected', 'budget_exceeded', 'expired'])('D31: a turn that ended as %s ends once', async (status) => {
    const id = `ended-${status}`;
    await seedTurn(pool, { id, status, ended: true });
    const sets = [`status = 'working'`, `text = 'other'`, `reason = 'other'`, 'ended_at = null', `ended_at = now() + interval '1 second'`];
    for (const set of sets) await expect(pool.query(`update holdfast.turn set ${set} where turn_id = $1`, [id]), set).rejects.toMatchObject({ code: 'HF001' });
  });

  it('D15, D16: giving up an unknown effect that may have happened changes nothing, so that the version a person saw stays valid', async () => {
    const key = await entry('unknown');
    await pool.query(`insert into holdfast.physical_call (id, key, generation, ended_at, outcome) values ($1, $1, 3, now(), 'uncertain')`, [key]);
    await giveUpUnsent(pool, key, 'nothing answers');
    expect((await pool.query('select state, version, reason from holdfast.ledger_entry where key = $1', [key])).rows).toEqual([{ state: 'unknown', version: 0, reason: null }]);
  });
});
