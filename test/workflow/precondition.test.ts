import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { call } from '../support/cancel-rig.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { testToml } from '../support/toml.js';

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking({ seats: 10, mode: 'lookup' })]);
  model.script(plays({ reserve: [{ calls: [call('reserve', 6)] }, { text: 'told' }] }));
  engine = await startEngine(testToml({
    modelUrl: model.url, bookingUrl: booking.url, offers: { lookup: 'authoritative' }, timeout: '1s', effect: 'correlation = { header = "X-Ref" }',
    approval: `precondition = { url = "${booking.url}/availability?date={args.date}&people={args.people}", expect = { available = true } }`,
  }));
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

describe('a target condition that no longer holds when an effect is sent again', () => {
  it('D25, D13: after its first call is proven to have had no effect, nothing runs, and the model is told why', async () => {
    const killed = await engine.worker({ at: 'before_send', signal: 'SIGKILL' });
    const waiting = await engine.send('reserve');
    const [approval] = waiting.approvals;
    expect(await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'approved' });
    await killed.exited;
    const taken = await fetch(`${booking.url}/reservations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(call('reserve', 8).args) });
    expect(taken.status).toBe(201);

    await engine.worker();
    const turn = await engine.settled(waiting.turnId);
    expect(turn).toMatchObject({ status: 'completed', text: 'told', effects: [{ state: 'failed' }] });
    expect(await booking.log()).toHaveLength(1);
    const entry = await engine.client.ledgerEntry(turn.effects[0]!.key);
    expect(entry.attempts.map(({ outcome }) => outcome)).toEqual(['absent']);
    expect(entry.reason).toContain('precondition');
    expect(model.violations).toEqual([]);
  });
});
