import type { LedgerState } from '../../../contracts/ledger.js';
import type { Booking } from '../../support/booking.js';
import type { Engine } from '../../support/engine.js';
import { ARGS, effectToml, type Kind } from '../kinds.js';
import { cancels, type Cut, type Fault, type Point } from './points.js';

/** The outside world of one turn. */
export interface World {
  booking: Booking;
  engine: Engine;
}

/** What one intent did to its target: requests that came there, and changes that were made. */
export interface Seen {
  posts: number;
  effects: number;
}

/**
 * One effect kind of D36. To add one, add it to `KINDS`.
 */
export interface MatrixKind {
  name: string;
  /** Its section of the configuration, for an effect called `effect` whose call may take `timeout`. */
  toml(effect: string, bookingUrl: string, timeout: string): string;
  /** Makes what the target needs, before the worker starts. */
  prepare?(engine: Engine): Promise<unknown>;
  seen(world: World, key: string): Promise<Seen>;
  /** States that are right when the worker is lost at the point; where nothing is said, `succeeded` is (D13). */
  lost: Partial<Record<Point, LedgerState[]>>;
  /** The same when the connection of the call is cut; null when it has none of its own. */
  cut: Record<Cut, LedgerState[]> | null;
}

/** An effect at a booking server, whose log tells by key what happened. */
function overHttp(name: Kind, expected: Pick<MatrixKind, 'lost' | 'cut'>): MatrixKind {
  return {
    name,
    toml: (effect, url, timeout) => effectToml(effect, { kind: name, url, timeout }),
    seen: async ({ booking }, key) => ({
      posts: (await booking.posts())[key] ?? 0,
      effects: (await booking.log()).filter((effect) => effect.key === key || effect.reference === key).length,
    }),
    ...expected,
  };
}

/** A statement in the ledger's own database, in the transaction that records it (D18). The table allows doubles, so that they would be seen. */
const ownDatabase: MatrixKind = {
  name: 'own_database',
  toml: (effect, _url, timeout) => `[effects.${effect}]
type = "postgres"
timeout = "${timeout}"
input_schema = ${ARGS}
statement = "insert into public.effect_done (key) values ({key}) returning id"
result_id = "id"`,
  prepare: (engine) => engine.pool.query(`create table public.effect_done (id text not null default 'D-' || gen_random_uuid(), key text not null)`),
  seen: async ({ engine }, key) => {
    const effects = (await engine.pool.query('select from public.effect_done where key = $1', [key])).rowCount ?? 0;
    return { posts: effects, effects };
  },
  lost: {},
  cut: null,
};

const FOUND: LedgerState[] = ['reconciled'];
const DONE: LedgerState[] = ['succeeded'];
const UNKNOWN: LedgerState[] = ['unknown'];

export const KINDS: MatrixKind[] = [
  ownDatabase,
  overHttp('keys_and_lookup', { lost: { after_effect: FOUND, cancel_with_answer: FOUND }, cut: { call_before_effect: DONE, call_after_effect: FOUND } }),
  overHttp('lookup_only', { lost: { after_effect: FOUND, cancel_with_answer: FOUND }, cut: { call_before_effect: DONE, call_after_effect: FOUND } }),
  // Under a cancel nothing is sent again, also not what would be safe: it is unknown, unless the cancel came after the resend (D28).
  overHttp('keys_only', { lost: { cancel_with_answer: ['unknown', 'succeeded'] }, cut: { call_before_effect: DONE, call_after_effect: DONE } }),
  overHttp('neither', {
    lost: { after_dispatch: UNKNOWN, before_send: UNKNOWN, after_effect: UNKNOWN, cancel_with_answer: UNKNOWN },
    cut: { call_before_effect: UNKNOWN, call_after_effect: UNKNOWN },
  }),
];

const SETTLED: LedgerState[] = ['succeeded', 'reconciled'];

/** States that are right while a worker is lost. */
export function lostStates(kind: MatrixKind, point: Point | Cut): LedgerState[] {
  return kind.lost[point as Point] ?? DONE;
}

/**
 * States that are right once the engine has done what it can by itself. A worker that lives on, or comes back, knows what it did: then nothing
 * stays unknown (D13, D17).
 */
export function rightStates(kind: MatrixKind, point: Point | Cut, fault: Fault): LedgerState[] {
  if (fault === 'connection_cut') return kind.cut?.[point as Cut] ?? [];
  const lost = lostStates(kind, point);
  if (fault === 'worker_killed') return lost;
  if (fault === 'worker_frozen') return lost.includes('unknown') ? SETTLED : lost;
  return kind.name === 'neither' && !cancels(point) ? DONE : SETTLED;
}
