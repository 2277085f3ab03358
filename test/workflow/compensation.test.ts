import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { call } from '../support/cancel-rig.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays } from '../support/plays.js';
import { waitFor } from '../support/wait.js';
import type { TurnView } from '../../contracts/turn.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script(plays({
    one: [{ calls: [call('reserve')] }, { text: 'reserved' }],
    wait: [{ calls: [call('auto')] }, { calls: [call('guarded')] }, { text: 'both' }],
    both: [{ calls: [call('auto'), call('reserve')] }, { status: 400, text: 'no' }],
    family: [{ calls: [{ name: 'desk', args: { text: 'wait' } }] }, { text: 'family' }],
  }));
  engine = await startEngine(toml());
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

/** `reserve` is undone on demand and by approval, `auto` after a cancel or a failure without asking, `guarded` not at all. */
function toml(): string {
  const booked = '{ type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }';
  const byId = '{ type = "object", required = ["id"], additionalProperties = false, properties = { id = { type = "string", minLength = 1 } } }';
  const effect = (name: string, path: string, schema: string, more: string): string => `[effects.${name}]
type = "http"
input_schema = ${schema}
url = "${booking.url}/${path}"
result_id = "id"
timeout = "4s"
${more}
[effects.${name}.idempotency]
[effects.${name}.lookup]
url = "${booking.url}/reservations?key={key}"
absence = "authoritative"
settle_after = "200ms"`;
  const agent = (name: string, more: string): string => `[agents.${name}]\ninstructions = "You are ${name}."\n${more}`;
  return [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${model.url}"\nmodel = "scripted"`,
    agent('main', 'effects = ["reserve", "auto", "guarded"]\nchildren = ["desk"]'), agent('desk', 'effects = ["auto", "guarded"]'),
    effect('reserve', 'reservations', booked, ''), effect('auto', 'reservations', booked, ''), effect('guarded', 'reservations', booked, ''), '[effects.guarded.approval]',
    effect('give_back', 'reservations/{args.id}/cancel', byId, 'compensates = "reserve"'), '[effects.give_back.approval]',
    effect('release', 'reservations/{args.id}/cancel', byId, 'compensates = "auto"\n[effects.release.compensation]\nautomatic = ["cancelled", "failed"]'),
  ].join('\n');
}

const compensate = (key: string) => engine.client.compensate(key, { as: 'op', reason: 'not wanted' });
const cancelled = async (): Promise<string[]> => (await booking.log()).filter(({ effect }) => effect === 'cancel').map(({ id }) => id);
const effectOf = (turn: TurnView, name: string) => turn.effects.find(({ effect }) => effect === name)!;

/** The turn that undoes an effect, once it has ended. */
async function undoing(key: string): Promise<TurnView> {
  const turnId = await waitFor(async () => (await engine.pool.query<{ turn_id: string }>('select turn_id from holdfast.detached where key = $1 order by ordinal desc', [key])).rows[0]?.turn_id, { what: `the undoing of ${key}` });
  return engine.settled(turnId);
}

describe('undoing an effect on demand', () => {
  it('D29: is a new effect with its own key and its own approval, once, also when it is asked for again', async () => {
    const turn = await engine.send('one');
    const done = effectOf(turn, 'reserve');
    const begun = await compensate(done.key);
    if (begun.result === 'refused') throw new Error(begun.message);
    expect(begun.result).toBe('begun');
    expect(await compensate(done.key)).toMatchObject({ result: 'being_undone', turnId: begun.turnId });
    const waiting = await engine.until(begun.turnId, 'waiting_approval');
    const [approval] = waiting.approvals;
    expect(approval).toMatchObject({ effect: 'give_back', args: { id: done.externalId }, state: 'pending' });
    expect(await cancelled()).not.toContain(done.externalId);
    expect(await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'approved' });
    const undone = await engine.settled(begun.turnId);
    expect(undone).toMatchObject({ status: 'completed', usage: { modelCalls: 0, effects: 1 } });
    expect(undone.text).toContain(`reserve (${done.externalId}) was undone by give_back`);
    expect(undone.effects[0]!.key).not.toBe(done.key);
    expect((await cancelled()).filter((id) => id === done.externalId)).toHaveLength(1);
    expect(await compensate(done.key)).toMatchObject({ result: 'refused', code: 'already_undone' });
  });

  it('D29: a rejected or failed one leaves the effect done, says so, and may be asked for again', async () => {
    const done = effectOf(await engine.send('one'), 'reserve');
    const first = await compensate(done.key);
    if (first.result === 'refused') throw new Error(first.message);
    const [approval] = (await engine.until(first.turnId, 'waiting_approval')).approvals;
    await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'reject', as: 'kim' });
    const ended = await engine.settled(first.turnId);
    expect(ended).toMatchObject({ status: 'failed', reason: expect.stringContaining('is not undone') as string });
    const second = await compensate(done.key);
    expect(second).toMatchObject({ result: 'begun' });
    if (second.result === 'refused') throw new Error(second.message);
    expect(second.turnId).not.toBe(first.turnId);
    // Cancelled while it begins: its end may be recorded before the answer is on its way.
    expect(['cancelling', 'already_ended']).toContain((await engine.client.cancel(second.turnId, { as: 'op' })).result);
    expect((await engine.settled(second.turnId)).status).toBe('cancelled');
    expect(await cancelled()).not.toContain(done.externalId);
  });

  it.each([
    { what: 'an effect without one', text: 'wait', name: 'guarded', code: 'not_done' },
    { what: 'an unknown key', text: null, name: null, code: 'unknown_entry' },
  ])('D29: $what is refused by name', async ({ text, name, code }) => {
    const key = text === null ? 'no.such.key' : effectOf(await engine.send(text), name!).key;
    expect(await compensate(key)).toMatchObject({ result: 'refused', code });
  });
});

describe('undoing by policy', () => {
  it('D29, D28: after a cancel begins by itself, the response says so, and the next turn is told how it ended', async () => {
    const thread = uniqueName('undo');
    const waiting = await engine.send('wait', { thread });
    expect(waiting.status).toBe('waiting_approval');
    await engine.client.cancel(waiting.turnId, { as: 'tester' });
    const turn = await engine.settled(waiting.turnId);
    const done = effectOf(turn, 'auto');
    expect(turn.text).toContain(`it has begun to be undone: auto (${done.externalId})`);
    const undone = await undoing(done.key);
    expect(undone).toMatchObject({ status: 'completed', text: expect.stringContaining(`auto (${done.externalId}) was undone by release`) as string });
    expect((await cancelled()).filter((id) => id === done.externalId)).toHaveLength(1);
    await engine.send('hello', { thread });
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('was undone by release');
    expect(model.violations).toEqual([]);
  });

  it('D29: after a failure undoes only what its policy names', async () => {
    const turn = await engine.send('both');
    expect(turn.status).toBe('failed');
    const done = effectOf(turn, 'auto');
    expect(await undoing(done.key)).toMatchObject({ status: 'completed' });
    expect(turn.text).toContain(`Already done and not undone: reserve (${effectOf(turn, 'reserve').externalId})`);
    expect((await engine.pool.query('select from holdfast.detached where key = $1', [effectOf(turn, 'reserve').key])).rowCount).toBe(0);
  });

  it('D29, D32: what a child agent has done is undone as well when its parent is cancelled', async () => {
    const waiting = await engine.send('family');
    expect(waiting.status).toBe('waiting_approval');
    await engine.client.cancel(waiting.turnId, { as: 'tester' });
    const turn = await engine.settled(waiting.turnId);
    const done = effectOf(turn, 'auto');
    expect(await undoing(done.key)).toMatchObject({ status: 'completed' });
    expect((await cancelled()).filter((id) => id === done.externalId)).toHaveLength(1);
  });
});
