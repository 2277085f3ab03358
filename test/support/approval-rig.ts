import type { DecisionAnswer } from '../../contracts/approval.js';
import type { JsonObject } from '../../contracts/json.js';
import type { TurnView } from '../../contracts/turn.js';
import { workflowIdOf } from '../../domain/keys.js';
import { sha256Hex } from '../../store/hash.js';
import type { ChatRequest, ScriptedReply } from '../../testing/index.js';
import { startBooking, type Booking, type BookingEffect } from './booking.js';
import { startEngine, type Engine } from './engine.js';
import { startFakeModel, type FakeModel } from './fake-model/index.js';
import { uniqueName } from './names.js';
import { testToml } from './toml.js';

export type Approval = TurnView['approvals'][number];
export type Verdict = 'approve' | 'reject' | 'edit';

interface Ask {
  effect?: string;
  args: JsonObject;
}

/**
 * What the scripted model calls when it reads such a text: `asks` in one reply; `again` when it is asked about the same text once more;
 * `then` after the results of the first reply. `down`: after any result it answers 500 for good.
 */
export interface Wish {
  asks: Ask[];
  again?: Ask[];
  then?: Ask[];
  down?: true;
}

export interface Rig {
  model: FakeModel;
  booking: Booking;
  engine: Engine;
  /** A turn of agent `desk` that made the model call these effects, as it stands when it first waits or ends. */
  ask(wish: Wish, options?: { thread?: string; as?: string }): Promise<TurnView>;
  decide(approval: Pick<Approval, 'id' | 'hash'>, decision: Verdict, as?: string, args?: JsonObject): Promise<DecisionAnswer>;
  /** Effects that really happened for a turn. */
  done(turn: Pick<TurnView, 'turnId'>): Promise<BookingEffect[]>;
  close(): Promise<void>;
}

/** Effects of agent `desk`, each with one other approval policy. */
const POLICIES: Record<string, string> = {
  reserve: '',
  quick: 'expires_in = "2s"',
  pair: 'approvers = 2',
  strict: 'requester_may_approve = false',
  guarded: 'precondition = { url = "BOOKING/availability?date={args.date}&people={args.people}", expect = { available = true } }',
  blind: 'precondition = { url = "BOOKING/log", expect = { available = true } }',
};

/** An effect of agent `desk` without approval, at a system that has neither keys nor look-up: its lost answer is unknown. */
const LONE = 'lone';

export function deskToml(modelUrl: string, bookingUrl: string, instructions = 'You are the desk.'): string {
  return testToml({ modelUrl, more: desk(bookingUrl, instructions) });
}

function desk(url: string, instructions: string): string {
  const names = [...Object.keys(POLICIES), LONE];
  const agent = `[agents.desk]\ninstructions = "${instructions}"\nmodel = "default"\neffects = ${JSON.stringify(names)}\n`;
  return agent + names.map((name) => effect(name, url, instructions)).join('');
}

function effect(name: string, url: string, note: string): string {
  return `
[effects.${name}]
type = "http"
description = "Reserve a table. ${note}"
input_schema = { type = "object", required = ["date", "people"], additionalProperties = false, properties = { date = { type = "string" }, people = { type = "integer", minimum = 1 }, name = { type = "string" } } }
url = "${url}/reservations"
result_id = "id"
timeout = "4s"
${name === LONE ? '' : guards(name, url)}`;
}

function guards(name: string, url: string): string {
  return `[effects.${name}.idempotency]
[effects.${name}.lookup]
url = "${url}/reservations?key={key}"
absence = "authoritative"
settle_after = "200ms"
[effects.${name}.approval]
preview = { url = "${url}/preview" }
${POLICIES[name]?.replaceAll('BOOKING', url) ?? ''}
`;
}

/** The model does what the newest user text wishes, and ends by repeating every result it was given. */
function obey(seen: Map<string, number>, request: ChatRequest): ScriptedReply {
  const user = request.messages.findLastIndex((message) => message.role === 'user');
  const text = String(request.messages[user]?.content);
  const wish = text.startsWith('{') ? (JSON.parse(text) as Wish) : null;
  if (request.messages.at(-1)?.role === 'tool') return afterResults(request, user, wish);
  if (wish === null) return { text: `heard: ${text}` };
  const times = (seen.get(text) ?? 0) + 1;
  seen.set(text, times);
  return callsOf(times > 1 && wish.again !== undefined ? wish.again : wish.asks);
}

function afterResults({ messages }: ChatRequest, user: number, wish: Wish | null): ScriptedReply {
  if (wish?.down === true) return { status: 500, text: 'down' };
  const replies = messages.slice(user + 1).filter((message) => message.role === 'assistant').length;
  if (wish?.then !== undefined && replies === 1) return callsOf(wish.then);
  const from = messages.findLastIndex((message) => message.role === 'assistant');
  return { text: `told: ${messages.slice(from + 1).map((message) => String(message.content)).join(' | ')}` };
}

function callsOf(asks: Ask[]): ScriptedReply {
  return { calls: asks.map((call) => ({ name: call.effect ?? 'reserve', args: call.args })) };
}

export async function startRig(options: { seats?: number } = {}): Promise<Rig> {
  const [model, booking] = await Promise.all([startFakeModel(), startBooking(options)]);
  const engine = await startEngine(deskToml(model.url, booking.url));
  const seen = new Map<string, number>();
  model.script((request) => obey(seen, request));
  return {
    model, booking, engine,
    ask: (wish, { thread, as } = {}) =>
      engine.send(JSON.stringify({ tag: uniqueName('wish'), ...wish }), { agent: 'desk', thread: thread ?? uniqueName('thread'), ...(as === undefined ? {} : { as }) }),
    decide: (approval, decision, as = 'kim', args) => engine.client.decide(approval.id, { hash: approval.hash, decision, as, ...(args === undefined ? {} : { args }) }),
    done: async (turn) => (await booking.log()).filter((entry) => entry.key?.startsWith(`${turn.turnId}.`)),
    close: async () => {
      await engine.close();
      await Promise.all([booking.stop(), model.close()]);
    },
  };
}

/** The conversation's workflow, for signals sent as from the Temporal UI. */
export function conversationHandle(engine: Engine, turn: Pick<TurnView, 'agent' | 'threadId'>) {
  return engine.temporal.workflow.getHandle(workflowIdOf(turn.agent, turn.threadId, sha256Hex));
}

export function refused(code: string): object {
  return { result: 'refused', code };
}

/** The only approval of a turn that has exactly one. */
export function only(turn: TurnView): Approval {
  const [approval] = turn.approvals;
  if (approval === undefined || turn.approvals.length > 1) throw new Error(`turn ${turn.turnId} (${turn.status}) has ${turn.approvals.length} approvals`);
  return approval;
}
