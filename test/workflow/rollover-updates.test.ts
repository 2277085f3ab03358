import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBooking, type Booking } from '../support/booking.js';
import { clerkToml } from '../support/clerk-toml.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays } from '../support/plays.js';
import { chainOf } from '../support/short-runs.js';

/** More updates than the server lets one run take (2000); it asks for a new run at nine tenths of them. */
const UPDATES = 2100;
const AT_ONCE = 12;

let model: FakeModel;
let booking: Booking;
let engine: Engine;

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script(plays({ ask: [{ calls: [{ name: 'approved', args: { date: '2026-12-24', people: 4 } }] }] }));
  engine = await startEngine(clerkToml(model.url, booking.url));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

describe('more requests than one run may take', () => {
  it('D1, D2, case 46: twelve senders at once, beyond what one run takes, are all answered, and the approval acts once afterwards', async () => {
    const { turnId } = await engine.client.submit({ agent: 'clerk', threadId: uniqueName('many'), text: 'ask', as: 'tester' });
    const { workflowId, approvals: [approval], effects: [effect] } = await engine.until(turnId, 'waiting_approval');
    let left = UPDATES;
    const answers = new Set<string>();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1;
        const answer = await engine.client.settle(effect!.key, { version: 1, outcome: 'failed', reason: 'guessed', as: `op-${left}` });
        answers.add(answer.result === 'refused' ? answer.code : answer.result);
      }
    }));
    expect([...answers]).toEqual(['not_unknown']);
    expect((await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).result).toBe('approved');
    expect(await engine.settled(turnId)).toMatchObject({ status: 'completed', effects: [{ state: 'succeeded' }] });
    expect((await booking.posts())[`${turnId}.1.0`]).toBe(1);
    expect((await chainOf(engine, workflowId)).length).toBeGreaterThan(1);
    expect(model.violations).toEqual([]);
  }, 240_000);
});
