import type { TurnView } from '../../contracts/turn.js';
import { startBooking, type Booking } from './booking.js';
import { call } from './cancel-rig.js';
import { startEngine, type Engine } from './engine.js';
import { startFakeModel, type FakeModel } from './fake-model/index.js';
import { plays } from './plays.js';
import { waitFor } from './wait.js';

/** An engine whose effects can be undone. Its worker is the test's own matter. */
export interface UndoRig {
  model: FakeModel;
  booking: Booking;
  engine: Engine;
  compensate(key: string): ReturnType<Engine['client']['compensate']>;
  /** Begins to undo an effect and answers the turn that does it. */
  begin(key: string): Promise<string>;
  /** The newest turn that undoes an effect, once there is one. */
  undoing(key: string): Promise<string>;
  /** How often a reservation was cancelled at the booking server. */
  cancels(id: string | null): Promise<number>;
  close(): Promise<void>;
}

export const effectOf = (turn: TurnView, name: string): TurnView['effects'][number] => turn.effects.find(({ effect }) => effect === name)!;

export async function startUndoRig(extraEnv: Record<string, string> = {}): Promise<UndoRig> {
  const [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  model.script(plays({
    one: [{ calls: [call('reserve')] }, { text: 'reserved' }],
    blind: [{ calls: [call('blind')] }, { text: 'reserved' }],
    nameless: [{ calls: [call('nameless')] }, { text: 'reserved' }],
    wait: [{ calls: [call('auto')] }, { calls: [call('guarded')] }, { text: 'both' }],
    both: [{ calls: [call('auto'), call('reserve')] }, { status: 400, text: 'no' }],
    family: [{ calls: [{ name: 'desk', args: { text: 'wait' } }] }, { text: 'family' }],
    broken: [{ calls: [call('auto')] }, { status: 400, text: 'no' }],
    mended: [{ calls: [{ name: 'desk', args: { text: 'broken' } }] }, { text: 'mended' }],
    outlived: [{ calls: [{ name: 'desk', args: { text: 'broken' } }] }, { calls: [call('guarded')] }, { text: 'outlived' }],
    nope: [{ calls: [call('nameless_auto')] }, { status: 400, text: 'no' }],
  }));
  const engine = await startEngine(toml(model.url, booking.url), extraEnv);
  const compensate = (key: string) => engine.client.compensate(key, { as: 'op', reason: 'not wanted' });
  return {
    model, booking, engine, compensate,
    begin: async (key) => {
      const begun = await compensate(key);
      if (begun.result === 'refused') throw new Error(`${begun.code}: ${begun.message}`);
      return begun.turnId;
    },
    undoing: (key) => waitFor(async () => (await engine.pool.query<{ turn_id: string }>('select turn_id from holdfast.detached where key = $1 order by ordinal desc', [key])).rows[0]?.turn_id,
      { what: `the undoing of ${key}` }),
    cancels: async (id) => (await booking.log()).filter((effect) => effect.effect === 'cancel' && effect.id === id).length,
    close: async () => {
      await engine.close();
      await Promise.all([booking.stop(), model.close()]);
    },
  };
}

/**
 * `reserve` is undone on demand and by approval, `auto` after a cancel or a failure without asking, `blind` by an effect whose outcome cannot be
 * looked up, `nameless` by one that asks for an argument which is not always there, `guarded` not at all.
 */
function toml(modelUrl: string, bookingUrl: string): string {
  const booked = '{ type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" }, note = { type = "string" } } }';
  const byId = '{ type = "object", required = ["id"], additionalProperties = false, properties = { id = { type = "string" } } }';
  const effect = (name: string, path: string, schema: string, more = ''): string => `[effects.${name}]
type = "http"
input_schema = ${schema}
url = "${bookingUrl}/${path}"
result_id = "id"
timeout = "4s"
${more}`;
  const sure = (name: string): string => `[effects.${name}.idempotency]
[effects.${name}.lookup]
url = "${bookingUrl}/reservations?key={key}"
absence = "authoritative"
settle_after = "200ms"`;
  const agent = (name: string, more: string): string => `[agents.${name}]\ninstructions = "You are ${name}."\n${more}`;
  const cancel = 'reservations/{args.id}/cancel';
  return [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${modelUrl}"\nmodel = "scripted"`,
    agent('main', 'effects = ["reserve", "auto", "guarded", "blind", "nameless", "nameless_auto"]\nchildren = ["desk"]'), agent('desk', 'effects = ["auto", "guarded"]'),
    ...['reserve', 'auto', 'guarded', 'blind', 'nameless', 'nameless_auto'].flatMap((name) => [effect(name, 'reservations', booked), sure(name)]), '[effects.guarded.approval]',
    effect('give_back', cancel, byId, 'compensates = "reserve"'), sure('give_back'), '[effects.give_back.approval]',
    effect('release', cancel, byId, 'compensates = "auto"\n[effects.release.compensation]\nautomatic = ["cancelled", "failed"]'), sure('release'),
    effect('blind_back', cancel, byId, 'compensates = "blind"'),
    effect('nameless_back', cancel, byId, 'compensates = "nameless"\n[effects.nameless_back.compensation]\nargs = { id = "{note}" }'),
    effect('nameless_auto_back', cancel, byId, 'compensates = "nameless_auto"\n[effects.nameless_auto_back.compensation]\nargs = { id = "{note}" }\nautomatic = ["failed"]'),
  ].join('\n');
}
