import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { startBooking, type Booking } from '../support/booking.js';
import { call } from '../support/cancel-rig.js';
import { startEngine, type Engine, type TestWorker } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays, requestAbout, textOf } from '../support/plays.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;
let worker: TestWorker;

const ask = (name: string, text: string) => ({ name, args: { text } });
/** Ends what `after` waits for. */
let goOn: () => void = () => undefined;

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script(plays({
    start: [{ calls: [ask('worker', 'work')] }, { text: 'It has begun.' }],
    slow: [{ calls: [ask('worker', 'held')] }, { text: 'It has begun.' }],
    brief: [{ calls: [ask('hasty', 'guarded')] }, { text: 'It has begun.' }],
    later: [{ calls: [ask('worker', 'guarded')] }, { text: 'It has begun.' }],
    both: [{ calls: [ask('worker', 'work'), call('guarded')] }, { text: 'both' }],
    work: [{ calls: [call('reserve')] }, { text: 'The work is done.' }],
    held: [async () => { await new Promise<void>((resolve) => { goOn = resolve; }); return { calls: [call('reserve')] }; }, { text: 'The held work is done.' }],
    guarded: [{ calls: [call('guarded')] }, { text: 'The guarded work is done.' }],
  }));
  engine = await startEngine(toml());
  worker = await engine.worker();
});

afterAll(async () => {
  goOn();
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

function toml(): string {
  const agent = (name: string, more: string): string => `[agents.${name}]\ninstructions = "You are ${name}."\n${more}`;
  const effect = (name: string, more: string): string => `[effects.${name}]
type = "http"
input_schema = { type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }
url = "${booking.url}/reservations"
result_id = "id"
[effects.${name}.idempotency]
${more}`;
  return [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${model.url}"\nmodel = "scripted"\ntimeout = "60s"`,
    agent('main', 'children = ["worker", "hasty"]\neffects = ["guarded"]'),
    agent('worker', 'effects = ["reserve", "guarded"]\n[agents.worker.detached]\nmax_life = "1h"'), agent('hasty', 'effects = ["guarded"]\n[agents.hasty.detached]\nmax_life = "2s"'),
    effect('reserve', ''), effect('guarded', '[effects.guarded.approval]'),
  ].join('\n');
}

/** The work that a turn has begun. */
async function workOf(turn: Pick<TurnView, 'turnId'>): Promise<string> {
  return (await waitFor(async () => (await engine.client.turn(turn.turnId)).detached[0], { what: 'the work to begin' })).turnId;
}
const posts = async (turn: TurnView): Promise<number> => (await booking.log()).filter((effect) => turn.effects.some(({ key }) => key === effect.key)).length;

describe('work that outlives the turn which began it', () => {
  it('D30: the turn ends at once, says only that it has begun, and the work has an owner, a way to look it up, and its end in the next turn', async () => {
    const thread = uniqueName('work');
    const turn = await engine.send('slow', { thread });
    expect(turn).toMatchObject({ status: 'completed', text: 'It has begun.', effects: [], owner: null });
    const told = textOf(requestAbout(model.requests, 'slow')?.body.messages.at(-1)?.content);
    expect(told).toContain('It goes on by itself and is not done yet.');
    const id = await workOf(turn);
    expect(turn.detached).toMatchObject([{ turnId: id, kind: 'work', key: `${turn.turnId}.1.0` }]);
    expect(told).toContain(id);
    expect(await engine.client.turn(id)).toMatchObject({ status: 'working', owner: turn.turnId });
    await waitFor(async () => requestAbout(model.requests, 'held') !== undefined, { what: 'the work to be asked for' });
    goOn();
    const work = await engine.settled(id);
    expect(work).toMatchObject({ status: 'completed', text: 'The held work is done.' });
    expect(await posts(work)).toBe(1);
    await engine.send('hello', { thread });
    expect(textOf(requestAbout(model.requests, 'hello')?.body.messages[0]?.content)).toContain('The held work is done.');
    await engine.send('again', { thread });
    expect(textOf(requestAbout(model.requests, 'again')?.body.messages[0]?.content)).not.toContain('The held work is done.');
    expect(model.violations).toEqual([]);
  });

  it('D30, D27: a cancel of its owner does not reach it, a cancel of its own does', async () => {
    const owner = await engine.send('both');
    expect(owner.status).toBe('waiting_approval');
    const done = await engine.settled(await workOf(owner));
    expect(done).toMatchObject({ status: 'completed' });
    await engine.client.cancel(owner.turnId, { as: 'tester' });
    expect(await engine.settled(owner.turnId)).toMatchObject({ status: 'cancelled' });

    const id = await workOf(await engine.send('later'));
    const waiting = await engine.until(id, 'waiting_approval');
    expect(waiting.approvals).toMatchObject([{ effect: 'guarded', turnId: id }]);
    await engine.client.cancel(id, { as: 'tester' });
    expect(await engine.settled(id)).toMatchObject({ status: 'cancelled' });
  });

  it('D30: it ends as expired after its longest life, and its approval can do nothing any more', async () => {
    const id = await workOf(await engine.send('brief'));
    const [approval] = (await engine.until(id, 'waiting_approval')).approvals;
    const work = await engine.until(id, 'expired');
    expect(work).toMatchObject({ reason: 'wall_time' });
    expect(await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'refused' });
    expect(await posts(work)).toBe(0);
  });

  it('D30, D36: with every worker killed while it waits, it is found and goes on', async () => {
    const id = await workOf(await engine.send('later'));
    const [approval] = (await engine.until(id, 'waiting_approval')).approvals;
    await worker.stop();
    worker = await engine.worker();
    expect(await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'approved' });
    const work = await engine.settled(id);
    expect(work).toMatchObject({ status: 'completed', text: 'The guarded work is done.' });
    expect(await posts(work)).toBe(1);
    expect(model.violations).toEqual([]);
  });
});
