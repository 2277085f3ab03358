import type { TurnView } from '../../contracts/turn.js';
import { startBooking, type Booking } from '../support/booking.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { plays } from '../support/plays.js';
import { startRemoteAgent } from '../support/remote-agent.js';
import { eventsOf } from '../support/thread.js';
import { waitFor } from '../support/wait.js';
import type { ScriptedReply } from '../../testing/index.js';

/** A word in every input, reply, argument and result of the recorded conversations. No history may hold it (D8). */
export const CONTENT = 'Zinnia';

export interface Stage {
  model: FakeModel;
  engine: Engine;
  /** Of the effect `slow`, which is held in the scenarios that catch a turn at work. */
  slow: Booking;
  close(): Promise<void>;
}

const ARGS = { date: '2026-12-24', people: 2, name: CONTENT };
const call = (...names: string[]): ScriptedReply => ({ calls: names.map((name) => ({ name, args: ARGS })) });
const end: ScriptedReply = { text: `${CONTENT} is told.` };

const SCRIPT = plays({
  effect: [call('reserve'), end], two: [call('reserve', 'reserve'), end], lost: [call('lost'), end],
  approved: [call('guarded'), end], rejected: [call('guarded'), end], edited: [call('guarded'), end], expired: [call('quick'), end],
  unknown: [call('blind'), end], held: [call('slow'), end], steered: [call('slow'), end],
  'child-model': [{ calls: [{ name: 'reader', args: { text: `reader ${CONTENT}` } }] }, end],
  'child-agent': [{ calls: [{ name: 'clerk', args: { text: `clerk ${CONTENT}` } }] }, end], clerk: [call('guarded'), end],
  'ask-user': [{ calls: [{ name: 'ask_user', args: { question: `Which day, ${CONTENT}?` } }] }, end],
  corrected: [{ calls: [{ name: 'reserve', argsText: `{"name":"${CONTENT}"` }] }, end],
  refused: [{ refusal: `No, ${CONTENT}.` }, { refusal: `No, ${CONTENT}.` }],
  undone: [call('auto'), { status: 400, text: 'no' }], 'over-budget': [call('reserve'), call('reserve'), end], 'out-of-time': [call('guarded'), end],
  detached: [{ calls: [{ name: 'beside', args: { text: `beside ${CONTENT}` } }] }, end], beside: [call('reserve'), end],
  remote: [{ calls: [{ name: 'abroad', args: { text: `echo ${CONTENT}` } }] }, end],
});

function toml(modelUrl: string, urls: Record<'reserve' | 'lost' | 'blind' | 'slow' | 'abroad', string>): string {
  const schema = '{ type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" }, name = { type = "string" } } }';
  const agent = (name: string, more = ''): string => `[agents.${name}]\ninstructions = "You are ${name}, ${CONTENT}."\n${more}\n`;
  const byId = '{ type = "object", required = ["id"], properties = { id = { type = "string" } } }';
  const effectAt = (name: string, url: string, input: string, more: string): string => `[effects.${name}]\ntype = "http"\ninput_schema = ${input}\nurl = "${url}"\nresult_id = "id"\ntimeout = "20s"\n${more}\n`;
  const effect = (name: string, url: string, more = ''): string => effectAt(name, `${url}/reservations`, schema, more);
  const keys = (name: string): string => `[effects.${name}.idempotency]\n`;
  return [
    '[app]\ndefault_agent = "main"', `[models.default]\nprovider = "openai_compatible"\nbase_url = "${modelUrl}"\nmodel = "scripted"\ntimeout = "20s"`,
    agent('main', 'effects = ["reserve", "lost", "guarded", "quick", "blind", "slow", "auto"]\nchildren = ["reader", "clerk", "beside", "abroad"]\nask_user = true'),
    agent('reader'), agent('clerk', 'effects = ["guarded"]'), agent('summary'),
    agent('beside', 'effects = ["reserve"]\n[agents.beside.detached]\nmax_life = "1h"'), `[children.abroad]\ntype = "a2a"\nurl = "${urls.abroad}"\npoll = "100ms"`,
    agent('poor', 'effects = ["reserve"]\n[agents.poor.budget]\neffects = 1'), agent('hurried', 'effects = ["guarded"]\n[agents.hurried.budget]\nwall_time = "2s"'),
    '[work_memory]\nenabled = true\ntiming = "before_finalize"\npolicy = { reader = "both", clerk = "none", beside = "none", abroad = "none" }',
    effect('reserve', urls.reserve, keys('reserve')), effect('blind', urls.blind), effect('slow', urls.slow, keys('slow')),
    effect('lost', urls.lost, `${keys('lost')}[effects.lost.lookup]\nurl = "${urls.lost}/reservations?key={key}"\nabsence = "authoritative"\nsettle_after = "100ms"`),
    effect('guarded', urls.reserve, `${keys('guarded')}[effects.guarded.approval]\nexpires_in = "1h"`),
    effect('quick', urls.reserve, `${keys('quick')}[effects.quick.approval]\nexpires_in = "1s"`),
    effect('auto', urls.reserve, keys('auto')),
    effectAt('release', `${urls.reserve}/reservations/{args.id}/cancel`, byId, 'compensates = "auto"\n[effects.release.compensation]\nautomatic = ["failed"]\n[effects.release.idempotency]'),
  ].join('\n');
}

export async function openStage(): Promise<Stage> {
  const model = await startFakeModel();
  const [reserve, lost, blind, slow, abroad] = await Promise.all([startBooking(), startBooking(), startBooking({ mode: 'none' }), startBooking(), startRemoteAgent()]);
  const bookings = { reserve, lost, blind, slow };
  await Promise.all([lost.setFaults({ dropNext: { when: 'after' } }), blind.setFaults({ dropNext: { when: 'after' } })]);
  const engine = await startEngine(toml(model.url, { reserve: reserve.url, lost: lost.url, blind: blind.url, slow: slow.url, abroad: abroad.url }));
  model.script(SCRIPT);
  await engine.worker();
  return {
    model, engine, slow,
    close: async () => {
      await engine.close();
      await Promise.all([...Object.values(bookings).map((booking) => booking.stop()), abroad.close(), model.close()]);
    },
  };
}

/** Conversations of another agent than `main`. */
const AGENTS: Record<string, string> = { 'over-budget': 'poor', 'out-of-time': 'hurried' };
const agentOf = (thread: string): string => AGENTS[thread] ?? 'main';

const submit = ({ engine }: Stage, thread: string, play = thread, mode: 'queue' | 'steer' = 'queue') =>
  engine.client.submit({ agent: agentOf(thread), threadId: thread, requestId: `${thread}-${play}`, text: `${play} ${CONTENT}`, mode, as: 'recorder' });

async function plain(stage: Stage, thread: string): Promise<void> {
  await endsAs(stage, thread, 'completed');
}

async function endsAs(stage: Stage, thread: string, status: string): Promise<string> {
  const { turnId } = await submit(stage, thread);
  await stage.engine.until(turnId, status);
  return turnId;
}

/** Ends as `status`, and so does what it has begun beside itself: work, or the undoing of an effect. */
async function beside(stage: Stage, thread: string, status: string): Promise<void> {
  const turnId = await endsAs(stage, thread, status);
  const begun = await waitFor(async () => (await stage.engine.pool.query<{ turn_id: string }>('select turn_id from holdfast.detached where owner_turn_id = $1', [turnId])).rows[0], { what: `what ${thread} has begun` });
  await stage.engine.until(begun.turn_id, 'completed');
}

async function waiting(stage: Stage, thread: string, play = thread): Promise<TurnView> {
  const { turnId } = await submit(stage, thread, play);
  return waitFor(async () => { const turn = await stage.engine.client.turn(turnId); return turn.status.startsWith('waiting_') && turn; }, { what: `${thread} to wait` });
}

async function decided(stage: Stage, thread: string, decision: 'approve' | 'reject'): Promise<void> {
  const turn = await waiting(stage, thread);
  const { id, hash } = turn.approvals[0]!;
  await stage.engine.client.decide(id, { hash, decision, as: 'boss' });
  await stage.engine.until(turn.turnId, 'completed');
}

async function edited(stage: Stage, thread: string): Promise<void> {
  const turn = await waiting(stage, thread);
  const { id, hash } = turn.approvals[0]!;
  const answer = await stage.engine.client.decide(id, { hash, decision: 'edit', args: { date: '2026-12-25', people: 3 }, as: 'boss' });
  if (answer.result !== 'edited') throw new Error(`the edit was ${answer.result}`);
  await stage.engine.client.decide(answer.approvalId, { hash: answer.hash, decision: 'approve', as: 'boss' });
  await stage.engine.until(turn.turnId, 'completed');
}

async function settled(stage: Stage, thread: string): Promise<void> {
  const turn = await waiting(stage, thread);
  const { key, version } = await stage.engine.client.ledgerEntry(turn.effects[0]!.key);
  await stage.engine.client.settle(key, { version, outcome: 'succeeded', externalId: 'R-1', reason: 'seen', as: 'boss' });
  await stage.engine.until(turn.turnId, 'completed');
}

const REPLACED = 'b'.repeat(64);
const UNREADABLE = 'c'.repeat(64);

/** Stores a variant of the definition of `main`, as another release would. */
async function variant({ engine }: Stage, digest: string, body: string): Promise<void> {
  await engine.pool.query(`insert into holdfast.definition (digest, agent, body) select $1, agent, ${body} from holdfast.definition join holdfast.current_definition using (agent, digest) where agent = 'main'`, [digest]);
}

/** Moved to a definition with another approval policy: the proposal is shown anew. */
async function migrated(stage: Stage, thread: string): Promise<void> {
  await variant(stage, REPLACED, `replace(body::text, '"approvers": 1', '"approvers": 2')::jsonb`);
  const turn = await waiting(stage, thread, 'approved');
  const answer = await stage.engine.client.migrate(turn.turnId, { to: REPLACED, as: 'recorder' });
  if (answer.result !== 'migrated' || answer.reproposed.length !== 1) throw new Error(`the migration was ${JSON.stringify(answer)}`);
  for (const as of ['boss', 'chief']) await stage.engine.client.decide(answer.reproposed[0]!.approvalId, { hash: answer.reproposed[0]!.hash, decision: 'approve', as });
  await stage.engine.until(turn.turnId, 'completed');
}

/** Pinned to a definition that no worker can read, and then moved away from it. */
async function needsMigration(stage: Stage, thread: string): Promise<void> {
  await variant(stage, UNREADABLE, `body || '{"later":true}'`);
  const turn = await waiting(stage, thread, 'approved');
  await stage.engine.pool.query('with pinned as (update holdfast.turn set definition_digest = $2 where turn_id = $1) update holdfast.ledger_entry set definition_digest = $2 where turn_id = $1 and state = \'pending\'', [turn.turnId, UNREADABLE]);
  await stage.engine.client.decide(turn.approvals[0]!.id, { hash: turn.approvals[0]!.hash, decision: 'approve', as: 'boss' });
  await stage.engine.until(turn.turnId, 'needs_migration');
  await stage.engine.client.migrate(turn.turnId, { as: 'recorder' });
  await stage.engine.until(turn.turnId, 'completed');
}

async function answered(stage: Stage, thread: string): Promise<void> {
  const turn = await waiting(stage, thread);
  await submit(stage, thread, 'answer');
  await stage.engine.until(turn.turnId, 'completed');
}

/** `meanwhile` happens while the turn's effect is held at its target. */
async function held(stage: Stage, thread: string, play: string, status: string, meanwhile: (turnId: string) => Promise<unknown>): Promise<void> {
  await stage.slow.hold();
  const { turnId } = await submit(stage, thread, play);
  await waitFor(async () => (await stage.slow.held()) === 1, { what: `the effect of ${thread} to be held` });
  await meanwhile(turnId);
  await stage.slow.release();
  await stage.engine.until(turnId, status);
}

/** Inputs behind a turn whose effect is held; all of them are answered in one run. */
async function queued(stage: Stage, thread: string): Promise<void> {
  const more: string[] = [];
  await held(stage, thread, 'held', 'completed', async () => {
    for (const play of ['second', 'third']) more.push((await submit(stage, thread, play)).turnId);
  });
  for (const turnId of more) await stage.engine.until(turnId, 'completed');
}

/** What is recorded, by the name of its thread and file. Those that hold the effect `slow` run one after the other. */
export const SCENARIOS: Record<string, (stage: Stage, thread: string) => Promise<void>> = {
  chat: plain, effect: plain, two: plain, lost: plain, 'child-model': plain, corrected: plain, expired: plain,
  remote: plain,
  refused: async (stage, thread) => void (await endsAs(stage, thread, 'failed')),
  'over-budget': async (stage, thread) => void (await endsAs(stage, thread, 'budget_exceeded')),
  'out-of-time': async (stage, thread) => void (await endsAs(stage, thread, 'expired')),
  undone: (stage, thread) => beside(stage, thread, 'failed'),
  detached: (stage, thread) => beside(stage, thread, 'completed'),
  approved: (stage, thread) => decided(stage, thread, 'approve'),
  rejected: (stage, thread) => decided(stage, thread, 'reject'),
  'child-agent': (stage, thread) => decided(stage, thread, 'approve'),
  migrated, 'needs-migration': needsMigration, edited, unknown: settled, 'ask-user': answered,
  'cancelled-in-flight': (stage, thread) => held(stage, thread, 'held', 'cancelled', (turnId) => stage.engine.client.cancel(turnId, { as: 'recorder' })),
  'cancelled-by-signal': async (stage, thread) => {
    const { turnId, workflowId } = await waiting(stage, thread, 'approved');
    await stage.engine.temporal.workflow.getHandle(workflowId).signal('cancel', { turnId });
    await stage.engine.until(turnId, 'cancelled');
  },
  queued, steered: (stage, thread) => held(stage, thread, 'steered', 'completed', () => submit(stage, thread, 'more', 'steer')),
};

/** Workflows whose histories belong to a scenario: the conversation, and the child agents it started. */
export async function workflowsOf({ engine }: Stage, thread: string): Promise<string[]> {
  const id = `holdfast/${agentOf(thread)}/${thread}`;
  const children = (await eventsOf(engine, id)).flatMap((event) => event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId ?? []);
  return [id, ...children];
}
