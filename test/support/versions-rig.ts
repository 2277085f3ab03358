import { writeFile } from 'node:fs/promises';
import type { TurnView } from '../../contracts/turn.js';
import type { MigrateAnswer } from '../../contracts/migration.js';
import { startBooking, type Booking } from './booking.js';
import { call } from './cancel-rig.js';
import { startEngine, type Engine, type TestWorker } from './engine.js';
import { asks, retell } from './family-rig.js';
import { startFakeModel, type FakeModel } from './fake-model/index.js';
import { plays, textOf } from './plays.js';

/** What a release of the configuration says; every field that differs gives `main` another digest. */
export interface Release {
  prompt?: string;
  model?: string;
  effects?: string[];
  children?: string[];
  approvers?: number;
  target?: string;
  guardedSchema?: string;
}

export interface Versions {
  model: FakeModel;
  booking: Booking;
  engine: Engine;
  /** Ends the only worker at once and starts one of this release with cold caches, after `meanwhile`. */
  release(release: Release, meanwhile?: () => Promise<unknown>): Promise<void>;
  migrate(turn: Pick<TurnView, 'turnId'>, options?: { to?: string; reason?: string }): Promise<MigrateAnswer>;
  approve(turn: TurnView): Promise<unknown>;
  /** Requests of one turn to the model, as (model, instructions, tools). */
  asked(text: string): { model: string; system: string; tools: string[] }[];
  /** Stores a definition as a later release would: with a field that this build does not know. */
  foreign(digest: string | null): Promise<unknown>;
  /** Makes it readable again. */
  ours(digest: string | null): Promise<unknown>;
  /** Physical requests for effects of a turn. */
  posts(turn: Pick<TurnView, 'turnId'>): Promise<number>;
  close(): Promise<void>;
}

const SCHEMA = '{ type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }';

function toml(modelUrl: string, booking: string, release: Release): string {
  const { prompt = 'one', model = 'model-one', effects = ['plain', 'guarded'], children = ['desk'], approvers = 1, target = '/reservations', guardedSchema = SCHEMA } = release;
  const effect = (name: string, path: string, schema: string, more = '') =>
    `[effects.${name}]\ntype = "http"\ninput_schema = ${schema}\nurl = "${booking}${path}"\nresult_id = "id"\ntimeout = "6s"\n[effects.${name}.idempotency]\n`
    + `[effects.${name}.lookup]\nurl = "${booking}/reservations?key={key}"\nabsence = "authoritative"\nsettle_after = "200ms"\n${more}`;
  return [
    `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${modelUrl}"\nmodel = "${model}"\ntimeout = "20s"`,
    `[agents.main]\ninstructions = "You are main ${prompt}."\neffects = ${JSON.stringify(effects)}\nchildren = ${JSON.stringify(children)}\nask_user = true`,
    `[agents.desk]\ninstructions = "You are desk ${prompt}."\neffects = ["guarded"]`,
    effect('plain', '/reservations', SCHEMA), effect('guarded', target, guardedSchema, `[effects.guarded.approval]\nexpires_in = "1h"\napprovers = ${approvers}\n`),
  ].join('\n');
}

/** `guard`: an effect is done, then one that needs approval; `hold`: one effect; `child`: an agent whose effect needs approval. */
const SCRIPT = plays({
  guard: [{ calls: [call('plain')] }, { calls: [call('guarded')] }, retell],
  hold: [{ calls: [call('plain')] }, retell],
  child: [asks(['desk', 'deskGuard']), retell], deskGuard: [{ calls: [call('guarded')] }, retell],
});

export async function startVersions(extraEnv: Record<string, string> = {}): Promise<Versions> {
  const [model, booking] = await Promise.all([startFakeModel(), startBooking()]);
  const engine = await startEngine(toml(model.url, booking.url, {}), extraEnv);
  model.script(SCRIPT);
  let worker: TestWorker = await engine.worker();
  return {
    model, booking, engine,
    release: async (release, meanwhile) => {
      await worker.stop();
      await writeFile(engine.env['CONFIG'] ?? '', toml(model.url, booking.url, release));
      await meanwhile?.();
      worker = await engine.worker();
    },
    migrate: (turn, options = {}) => engine.client.migrate(turn.turnId, { ...options, as: 'olga' }),
    approve: async (turn) => {
      const [approval] = (await engine.client.turn(turn.turnId)).approvals.filter(({ state }) => state === 'pending');
      return engine.client.decide(approval?.id ?? '', { hash: approval?.hash ?? '', decision: 'approve', as: 'boss' });
    },
    asked: (text) => model.requests.filter(({ body }) => body.messages.some((message) => message.role === 'user' && textOf(message.content).startsWith(text)))
      .map(({ body }) => ({
        model: String(body.model), system: textOf(body.messages[0]?.content), tools: (body.tools ?? []).map((tool) => tool.function.name),
      })),
    foreign: (digest) => engine.pool.query(`update holdfast.definition set body = body || '{"fromTheFuture":true}' where digest = $1`, [digest]),
    ours: (digest) => engine.pool.query(`update holdfast.definition set body = body - 'fromTheFuture' where digest = $1`, [digest]),
    posts: async ({ turnId }) => Object.entries(await booking.posts()).filter(([key]) => key.startsWith(`${turnId}.`)).reduce((sum, [, count]) => sum + count, 0),
    close: async () => {
      await engine.close();
      await Promise.all([booking.stop(), model.close()]);
    },
  };
}
