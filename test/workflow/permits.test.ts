import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';
import { waitFor } from '../support/wait.js';

const STUBBORN = fileURLToPath(new URL('../support/stubborn-effect.mjs', import.meta.url));

let model: FakeModel;
let target: RawTarget;
let engine: Engine;
/** Requests that wait for their answer, in the order in which they came. */
const held: (() => void)[] = [];

beforeAll(async () => {
  [model, target] = await Promise.all([startFakeModel(), startRawTarget()]);
  target.answer = (response, request) => void held.push(() => reply(200, { id: `R-${request.url}` }, { 'content-type': 'application/json' })(response, request));
  model.script(plays({ do: [{ calls: [{ name: 'stubborn', args: {} }] }, { text: 'done' }], two: [{ calls: [{ name: 'stubborn', args: {} }, { name: 'stubborn', args: {} }] }, { text: 'done' }] }));
  engine = await startEngine(`
[models.default]
provider = "openai_compatible"
base_url = "${model.url}"
model = "scripted"
[agents.main]
instructions = "You are main."
effects = ["stubborn"]
[effects.stubborn]
type = "function"
module = ${JSON.stringify(STUBBORN)}
timeout = "1s"
max_concurrent = 1
input_schema = { type = "object" }
`, { STUBBORN_URL: target.url });
  await engine.worker();
});

afterAll(async () => {
  held.splice(0).forEach((answer) => answer());
  await engine?.close();
  await Promise.all([target?.stop(), model?.close()]);
});

const begin = async (text: string): Promise<string> => (await engine.client.submit({ agent: 'main', text, as: 'tester' })).turnId;
const arrived = (count: number) => waitFor(() => Promise.resolve(target.received.length === count), { what: `${count} calls at the target` });

describe('permits for calls of a target that ignores the end of a call', () => {
  it('D27, D17: a cancelled turn ends at the limit of its call and says unknown; the permit comes back when the work has really ended, and what it did is kept', async () => {
    const first = await begin('do');
    await arrived(1);
    await engine.client.cancel(first, { as: 'tester' });
    const cancelled = await engine.settled(first);
    expect(cancelled).toMatchObject({ status: 'cancelled', effects: [{ state: 'unknown' }] });
    expect(cancelled.text).toContain('Not known whether it was done');

    const second = await begin('do');
    const entry = await waitFor(async () => (await engine.client.ledger({ turnId: second, kind: 'effect' }))[0], { what: 'the second effect' });
    // Its step waits for the permit: nothing is dispatched, for longer than a call may take.
    await waitFor(async () => (await engine.pool.query(`select from holdfast.ledger_entry where key = $1 and state = 'pending' and created_at < now() - interval '2 seconds'`, [entry.key])).rowCount === 1, { what: 'the second effect to wait' });
    expect(target.received).toHaveLength(1);

    held.shift()!();
    await arrived(2);
    held.shift()!();
    expect(await engine.settled(second)).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
    const known = await waitFor(async () => { const [effect] = (await engine.client.turn(first)).effects; return effect?.state === 'reconciled' && effect; }, { what: 'the late success to be kept' });
    expect(known).toMatchObject({ outcome: 'succeeded', externalId: expect.stringContaining(`${first}.1.0`) as string });
    expect(model.violations).toEqual([]);
  });

  it('D27: two calls of one reply run one after the other', async () => {
    const before = target.received.length;
    const turnId = await begin('two');
    await arrived(before + 1);
    await waitFor(async () => (await engine.client.ledger({ turnId, kind: 'effect' })).filter(({ state }) => state === 'pending').length === 1, { what: 'one of them to wait' });
    held.shift()!();
    await arrived(before + 2);
    held.shift()!();
    expect(await engine.settled(turnId)).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }, { state: 'succeeded' }] });
  });
});
