import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { testToml } from '../support/toml.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  booking = await startBooking();
  engine = await startEngine(testToml({ modelUrl: model.url, bookingUrl: booking.url }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await booking?.stop();
  await model?.close();
});

describe('a turn', () => {
  it('D2, D6: a chat turn is one model call and its answer is stored with the turn', async () => {
    model.script([{ text: 'Hello!' }]);
    const turn = await engine.send('Hi');
    expect(turn).toMatchObject({ status: 'completed', text: 'Hello!', usage: { modelCalls: 1 } });
    expect(model.violations).toEqual([]);
  });

  it('D6, D9, D11: two equal calls in one reply are two effects under two keys (case 05)', async () => {
    const call = { name: 'reserve', args: { date: '2026-12-24', people: 4 } };
    model.script([{ calls: [{ id: 'call_1', ...call }, { id: 'call_1', ...call }] }, { text: 'Two tables.' }]);
    const turn = await engine.send('Two tables please');
    expect(turn).toMatchObject({ status: 'completed', text: 'Two tables.' });
    expect(turn.effects.map((effect) => effect.state)).toEqual(['succeeded', 'succeeded']);
    const keys = turn.effects.map((effect) => effect.key);
    const done = (await booking.log()).filter((effect) => keys.includes(effect.key ?? ''));
    expect(new Set(done.map((effect) => effect.key)).size).toBe(2);
    expect(new Set(turn.effects.map((effect) => effect.externalId)).size).toBe(2);
    expect(model.violations).toEqual([]);
  });
});
