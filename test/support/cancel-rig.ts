import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TurnView } from '../../contracts/turn.js';
import type { BookingEffect } from './booking.js';
import { startBooking, type Booking } from './booking.js';
import { startEngine, type Engine } from './engine.js';
import { startFakeModel, type FakeModel } from './fake-model/index.js';
import { uniqueName } from './names.js';
import { waitFor } from './wait.js';

export interface CancelRig {
  model: FakeModel;
  /** With keys and look-up. */
  booking: Booking;
  /** With neither. */
  blind: Booking;
  /** A model that never answers; `open` counts its connections with a request. */
  deaf: { open: number; asked: number };
  engine: Engine;
  /** Submits without waiting. */
  begin(text: string, options?: { agent?: string; thread?: string; requestId?: string; mode?: 'queue' | 'steer' }): Promise<{ turnId: string; thread: string; workflowId: string }>;
  /** Effects of a turn that really happened at the booking server with keys. */
  done(turn: Pick<TurnView, 'turnId'>): Promise<BookingEffect[]>;
  /** Until so many requests wait at a held booking server. */
  held(booking: Booking, count?: number): Promise<unknown>;
  close(): Promise<void>;
}

const SCHEMA = '{ type = "object", required = ["date", "people"], properties = { date = { type = "string" }, people = { type = "integer" } } }';

/** One effect call for the scripted model. */
export function call(name: string, people = 2): { name: string; args: { date: string; people: number } } {
  return { name, args: { date: '2026-12-24', people } };
}

function toml(modelUrl: string, deafUrl: string, booking: string, blind: string): string {
  const model = (name: string, url: string): string => `[models.${name}]\nprovider = "openai_compatible"\nbase_url = "${url}"\nmodel = "scripted"\ntimeout = "30s"\n`;
  const agent = (name: string, more: string): string => `[agents.${name}]\ninstructions = "You are ${name}."\n${more}\n`;
  const effect = (name: string, url: string, more: string): string =>
    `[effects.${name}]\ntype = "http"\ninput_schema = ${SCHEMA}\nurl = "${url}/reservations"\nresult_id = "id"\ntimeout = "6s"\n${more}\n`;
  const found = (name: string): string =>
    `[effects.${name}.idempotency]\n[effects.${name}.lookup]\nurl = "${booking}/reservations?key={key}"\nabsence = "authoritative"\nsettle_after = "200ms"\n`;
  return [
    '[app]\ndefault_agent = "main"', model('default', modelUrl), model('deaf', deafUrl),
    agent('main', 'effects = ["reserve", "blind", "guarded"]'), agent('deaf', 'model = "deaf"'), agent('asker', 'ask_user = true'),
    effect('reserve', booking, found('reserve')), effect('blind', blind, ''), effect('guarded', booking, `${found('guarded')}[effects.guarded.approval]`),
  ].join('\n');
}

export async function startCancelRig(): Promise<CancelRig> {
  const model = await startFakeModel();
  const [booking, blind] = await Promise.all([startBooking(), startBooking({ mode: 'none' })]);
  const deaf = { open: 0, asked: 0 };
  const server = deafModel(deaf);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const engine = await startEngine(toml(model.url, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, booking.url, blind.url));
  return {
    model, booking, blind, deaf, engine,
    begin: async (text, { agent = 'main', thread = uniqueName('thread'), requestId, mode } = {}) => {
      const { turnId } = await engine.client.submit({ agent, threadId: thread, requestId, text, as: 'tester', ...(mode === undefined ? {} : { mode }) });
      return { turnId, thread, workflowId: `holdfast/${agent}/${thread}` };
    },
    done: async ({ turnId }) => (await booking.log()).filter((effect) => effect.key?.startsWith(`${turnId}.`)),
    held: (server, count = 1) => waitFor(async () => (await server.held()) === count, { what: `${count} held requests` }),
    close: async () => {
      await engine.close();
      server.closeAllConnections();
      server.close();
      await Promise.all([booking.stop(), blind.stop(), model.close()]);
    },
  };
}

function deafModel(deaf: { open: number; asked: number }): Server {
  return createServer((request, response) => {
    deaf.open += 1;
    deaf.asked += 1;
    response.on('close', () => { deaf.open -= 1; });
    request.resume();
  });
}
