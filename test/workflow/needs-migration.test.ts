import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { uniqueName } from '../support/names.js';
import { eventsOf } from '../support/thread.js';
import { startVersions, type Versions } from '../support/versions-rig.js';
import { waitFor } from '../support/wait.js';

let rig: Versions;

beforeAll(async () => {
  rig = await startVersions();
});
afterAll(() => rig?.close());
afterEach(async () => {
  await rig.engine.pool.query(`update holdfast.definition set body = body - 'fromTheFuture'`);
});

const say = (play: string) => `${play} ${uniqueName('text')}`;
const REASON = expect.stringMatching(/^The definition [0-9a-f]{12} cannot be used by this build: .*fromTheFuture.*turn migrate/s);

describe('a turn whose pinned definition this build cannot read', () => {
  it('D34: waits as needs_migration instead of failing when its approval comes; migrated it goes on, and what was approved is not run under another meaning', async () => {
    await rig.release({});
    const text = say('guard');
    const turn = await rig.engine.send(text);
    await rig.release({ prompt: 'two', target: '/elsewhere' }, () => rig.foreign(turn.definition));
    await rig.approve(turn);
    const waiting = await rig.engine.until(turn.turnId, 'needs_migration');
    expect(waiting.reason).toEqual(REASON);
    expect(await rig.posts(turn)).toBe(1);
    expect(await rig.migrate(turn)).toMatchObject({ result: 'migrated', takesEffect: 'now', closed: [{ name: 'guarded' }] });
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end.effects.map(({ state }) => state)).toEqual(['succeeded', 'failed']);
    expect(rig.asked(text).map(({ system }) => system.includes('You are main two'))).toEqual([false, false, true]);
    expect(await rig.posts(turn)).toBe(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D34: goes on by itself, once, with what was approved, when a worker comes that can read it', async () => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    await rig.release({ prompt: 'two' }, () => rig.foreign(turn.definition));
    await rig.approve(turn);
    await rig.engine.until(turn.turnId, 'needs_migration');
    await rig.release({ prompt: 'two' }, () => rig.ours(turn.definition));
    const end = await rig.engine.until(turn.turnId, 'completed');
    expect(end.effects.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
    expect(end.definition).toBe(turn.definition);
    expect(await rig.posts(turn)).toBe(2);
  });

  it('D13, D16, D34: with an effect under way is looked at no more every 5 s: it waits, visibly; migrated, a person settles what cannot be looked up', async () => {
    await rig.release({});
    await rig.booking.hold('after');
    const { turnId } = await rig.engine.client.submit({ agent: 'main', text: say('hold'), as: 'tester' });
    await waitFor(async () => (await rig.booking.held()) === 1, { what: 'the effect to be held' });
    const { definition, workflowId } = await rig.engine.client.turn(turnId);
    await rig.release({ prompt: 'two' }, async () => {
      await rig.foreign(definition);
      await rig.booking.release();
    });
    expect(await rig.engine.until(turnId, 'needs_migration')).toMatchObject({ reason: REASON });
    expect((await eventsOf(rig.engine, workflowId)).filter((event) => event.timerStartedEventAttributes?.startToFireTimeout?.seconds?.toString() === '60')).toHaveLength(1);
    expect(await rig.migrate({ turnId })).toMatchObject({ result: 'migrated' });
    const { effects: [effect] } = await rig.engine.until(turnId, 'waiting_unknown');
    const { key, version } = await rig.engine.client.ledgerEntry(effect!.key);
    expect(await rig.engine.client.settle(key, { version, outcome: 'succeeded', externalId: 'R-1', reason: 'seen', as: 'boss' })).toMatchObject({ result: 'settled' });
    expect((await rig.engine.until(turnId, 'completed')).effects).toMatchObject([{ state: 'reconciled', outcome: 'succeeded', externalId: 'R-1' }]);
    expect(await rig.posts({ turnId })).toBe(1);
    expect(rig.model.violations).toEqual([]);
  });

  it('D27, D34: ends when it is cancelled, also before it began', async () => {
    await rig.release({});
    const front = await rig.engine.send(say('guard'));
    const { turnId } = await rig.engine.client.submit({ agent: 'main', threadId: front.threadId, text: 'next', as: 'tester' });
    await rig.release({}, () => rig.foreign(front.definition));
    await rig.engine.client.cancel(front.turnId, { as: 'tester' });
    await rig.engine.until(front.turnId, 'cancelled');
    expect(await rig.engine.until(turnId, 'needs_migration')).toMatchObject({ reason: REASON });
    await rig.engine.client.cancel(turnId, { as: 'tester' });
    expect(await rig.engine.until(turnId, 'cancelled')).toMatchObject({ effects: [] });
  });

  it('D34: that is the current one, is named as the cause when a turn is to be migrated to it', async () => {
    await rig.release({});
    const turn = await rig.engine.send(say('guard'));
    await rig.release({ prompt: 'five' });
    const other = await rig.engine.send(say('guard'));
    await rig.release({ prompt: 'five' }, () => rig.foreign(other.definition));
    expect(await rig.migrate(turn)).toMatchObject({ result: 'refused', code: 'unusable_definition' });
    await Promise.all([turn, other].map(({ turnId }) => rig.engine.client.cancel(turnId, { as: 'tester' })));
    await Promise.all([turn, other].map(({ turnId }) => rig.engine.until(turnId, 'cancelled')));
  });
});
