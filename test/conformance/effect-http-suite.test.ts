import { vi } from 'vitest';
import type { HttpEffect } from '../../contracts/effect.js';
import { createHttpAdapter } from '../../effects/http/adapter.js';
import { startBooking, type BookingOptions } from '../support/booking.js';
import { effectCall, reserveEffect } from '../support/http-effect.js';
import { effectSuite, type EffectHarness } from './effect-suite.js';

/** The http adapter against the booking server, with the features that the server really has. */
async function start(mode: BookingOptions['mode']): Promise<EffectHarness<HttpEffect>> {
  const booking = await startBooking({ mode });
  const all = reserveEffect(booking.url);
  const effect = {
    ...all,
    idempotency: mode?.includes('keys') ? all.idempotency : null,
    lookup: mode?.includes('lookup') ? all.lookup : null,
    correlation: mode?.includes('keys') ? null : { header: 'X-Ref' },
  };
  const closed = reserveEffect('http://127.0.0.1:1');
  return {
    adapter: createHttpAdapter({ secrets: () => undefined }),
    call: (key, variant = 1) => effectCall(effect, key, { date: '2026-12-24', people: variant }),
    unreachable: (key) => effectCall(closed, key),
    happened: async (key) => (await booking.log()).filter((e) => e.key === key || e.reference === key).length,
    loseAnswer: () => booking.setFaults({ dropNext: { when: 'after' } }),
    breakLookup: () => booking.setFaults({ lookup: 'fail' }),
    stall: () => booking.hold('before'),
    stalled: () => vi.waitFor(async () => { if ((await booking.held()) === 0) throw new Error('nothing waits yet'); }, { timeout: 10_000, interval: 20 }),
    heal: async () => {
      await booking.release();
      await booking.clearFaults();
    },
    stop: booking.stop,
  };
}

effectSuite('http with keys and look-up', { keys: true, lookup: true }, () => start('keys,lookup'));
effectSuite('http with keys only', { keys: true, lookup: false }, () => start('keys'));
effectSuite('http with look-up only', { keys: false, lookup: true }, () => start('lookup'));
effectSuite('http with neither', { keys: false, lookup: false }, () => start('none'));
