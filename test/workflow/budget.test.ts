import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnView } from '../../contracts/turn.js';
import { startBooking, type Booking } from '../support/booking.js';
import { call } from '../support/cancel-rig.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { plays } from '../support/plays.js';
import { lastUser } from '../support/thread.js';

/** Every reply of the scripted model uses this much; a million tokens cost 1 and 2 dollars. */
const USED = { prompt_tokens: 100, completion_tokens: 50 };
const COST = 0.0002;

let model: FakeModel;
let booking: Booking;
let engine: Engine;

const reserve = { calls: [call('reserve')], usage: USED };
const ask = (child: string, text: string) => ({ name: child, args: { text } });

beforeAll(async () => {
  [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script(plays({
    reserving: Array.from({ length: 10 }, () => reserve),
    three: [{ calls: [call('reserve'), call('reserve'), call('reserve')], usage: USED }, { text: 'three', usage: USED }],
    guarded: [{ calls: [call('guarded')], usage: USED }, { text: 'told', usage: USED }],
    plain: [{ text: 'plain', usage: USED }],
    family: Array.from({ length: 5 }, () => ({ calls: [ask('desk', 'reserving'), ask('desk', 'reserving')], usage: USED })),
    crowd: [{ calls: Array.from({ length: 12 }, (_, i) => ask('helper', `plain ${i}`)), usage: USED }, { text: 'crowd', usage: USED }],
  }));
  engine = await startEngine(budgetToml());
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await Promise.all([booking?.stop(), model?.close()]);
});

function budgetToml(): string {
  const agent = (name: string, budget: string, more = ''): string => [
    `[agents.${name}]\ninstructions = "You are ${name}."\neffects = ["reserve", "guarded"]\n${more}`, budget === '' ? '' : `[agents.${name}.budget]\n${budget}`,
  ].join('\n');
  const effect = (name: string, more: string): string => `[effects.${name}]
type = "http"
input_schema = { type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }
url = "${booking.url}/reservations"
result_id = "id"
[effects.${name}.idempotency]
${more}`;
  return [
    `[app]\ndefault_agent = "calls"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${model.url}"\nmodel = "scripted"\nmax_output_tokens = 60\nprice = { input = 1, output = 2 }`,
    agent('calls', 'model_calls = 3'), agent('tokens', 'tokens = 400'), agent('cost', 'cost_usd = 0.0005'), agent('effects', 'effects = 2'), agent('none', 'effects = 0'),
    agent('mute', 'model_calls = 0'), agent('hurried', 'wall_time = "2s"'), agent('free', ''),
    agent('tree', 'model_calls = 6', 'children = ["desk"]'), agent('desk', ''), agent('strict', '', 'children = ["poor"]'), agent('poor', 'model_calls = 1'),
    agent('crowded', 'tokens = 1000', 'children = ["helper"]'), '[agents.helper]\ninstructions = "You help."',
    effect('reserve', ''), effect('guarded', '[effects.guarded.approval]'),
  ].join('\n');
}

const send = (agent: string, text: string): Promise<TurnView> => engine.send(`${text} ${uniqueName('t')}`, { agent });
const posts = async (turn: TurnView): Promise<number> => (await booking.log()).filter((effect) => turn.effects.some(({ key }) => key === effect.key)).length;

describe('a turn that reaches a limit', () => {
  it.each([
    { agent: 'calls', reason: 'model_calls', modelCalls: 3, effects: 3 },
    { agent: 'tokens', reason: 'tokens', modelCalls: 3, effects: 3 },
    { agent: 'cost', reason: 'cost_usd', modelCalls: 3, effects: 3 },
    { agent: 'effects', reason: 'effects', modelCalls: 3, effects: 2 },
    { agent: 'none', reason: 'effects', modelCalls: 1, effects: 0 },
    { agent: 'mute', reason: 'model_calls', modelCalls: 0, effects: 0 },
  ])('D33: of $reason (agent $agent) ends as budget_exceeded, says so, and tells what was done', async ({ agent, reason, modelCalls, effects }) => {
    const turn = await send(agent, 'reserving');
    expect(turn).toMatchObject({ status: 'budget_exceeded', reason, usage: { modelCalls, effects } });
    expect(await posts(turn)).toBe(effects);
    const done = turn.effects.filter(({ state }) => state === 'succeeded');
    expect(done).toHaveLength(effects);
    expect(turn.text).toContain(`stopped at its budget (${reason})`);
    for (const { externalId } of done) expect(turn.text).toContain(externalId);
    if (effects === 0) expect(turn.text).toContain('Nothing was changed outside.');
    if (modelCalls > 0) expect(turn.usage.costUsd).toBeCloseTo(modelCalls * COST, 9);
    expect(model.violations).toEqual([]);
  });

  it('D33: in the middle of one reply sends no more than was left', async () => {
    const turn = await send('effects', 'three');
    expect(turn).toMatchObject({ status: 'budget_exceeded', reason: 'effects' });
    expect(await posts(turn)).toBe(2);
    expect(turn.effects.map(({ state }) => state).sort()).toEqual(['failed', 'succeeded', 'succeeded']);
  });

  it('D33, D24: of time ends as expired, also while it waits for a person; the approval is dead and the next turn works', async () => {
    const thread = uniqueName('hurried');
    const waiting = await engine.send('guarded', { agent: 'hurried', thread });
    expect(waiting.status).toBe('waiting_approval');
    const turn = await engine.until(waiting.turnId, 'expired');
    expect(turn).toMatchObject({ reason: 'wall_time', text: expect.stringContaining('ran out of time') as string });
    const [approval] = turn.approvals;
    expect(await engine.client.decide(approval!.id, { hash: approval!.hash, decision: 'approve', as: 'kim' })).toMatchObject({ result: 'refused' });
    expect(await posts(turn)).toBe(0);
    expect(await engine.send('plain', { agent: 'hurried', thread })).toMatchObject({ status: 'completed', text: 'plain' });
    expect(model.violations).toEqual([]);
  });

  it('D33: without a budget nothing is limited, and nothing is counted in a budget of its own', async () => {
    const turn = await send('free', 'three');
    expect(turn).toMatchObject({ status: 'completed', usage: { effects: 3 } });
    expect((await engine.pool.query('select from holdfast.budget where turn_id = $1', [turn.turnId])).rowCount).toBe(0);
  });
});

describe('a budget of a whole tree', () => {
  it('D33: children use it up together; they and their parent end, and no call is made beyond it', async () => {
    const turn = await send('tree', 'family');
    expect(turn).toMatchObject({ status: 'budget_exceeded', reason: 'model_calls', usage: { modelCalls: 6 } });
    const asked = model.requests.filter(({ body }) => lastUser(body).startsWith('family') || lastUser(body).startsWith('reserving'));
    expect(asked.length).toBeGreaterThanOrEqual(6);
    expect(turn.usage.effects).toBe(await posts(turn));
    expect(model.violations).toEqual([]);
  });

  it("D33: a child's own budget ends the child alone", async () => {
    model.script(plays({
      strictly: [{ calls: [ask('poor', 'reserving')] }, { text: 'went on' }],
      reserving: Array.from({ length: 3 }, () => ({ calls: [call('reserve')] })),
    }));
    const turn = await send('strict', 'strictly');
    expect(turn).toMatchObject({ status: 'completed', text: 'went on', usage: { modelCalls: 3, effects: 1 } });
  });

  it('D33: twelve children at once never overshoot it by more than one call', async () => {
    model.script(plays({ crowd: [{ calls: Array.from({ length: 12 }, (_, i) => ask('helper', `plain ${i}`)), usage: USED }, { text: 'crowd', usage: USED }], plain: [{ text: 'plain', usage: USED, delayMs: 50 }] }));
    const turn = await send('crowded', 'crowd');
    expect(turn).toMatchObject({ status: 'budget_exceeded', reason: 'tokens' });
    const used = turn.usage.inputTokens + turn.usage.outputTokens;
    expect(used).toBeGreaterThanOrEqual(1000);
    expect(used).toBeLessThan(1000 + USED.prompt_tokens + USED.completion_tokens);
    expect(model.violations).toEqual([]);
  });
});
