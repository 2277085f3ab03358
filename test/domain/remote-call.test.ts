import { describe, expect, it } from 'vitest';
import { MAX_ABSENCES, MAX_SENDS, decideRemote, pollWait, resendWait } from '../../domain/remote-call.js';
import type { RemoteDecision, RemoteFacts } from '../../domain/remote-call.js';

const FACTS: RemoteFacts = { maySent: true, found: null, again: true, absences: 0, idempotent: false };

const TABLE: [string, Partial<RemoteFacts>, RemoteDecision][] = [
  ['nothing was sent', { maySent: false }, 'send'],
  ['it may have been sent', {}, 'look'],
  ['it may have been sent to an idempotent agent', { idempotent: true }, 'look'],
  ['its task is found', { found: 'found' }, 'take_up'],
  ['its task is found at an idempotent agent', { found: 'found', idempotent: true }, 'take_up'],
  ['it is absent once', { found: 'absent', absences: 1 }, 'look'],
  ['it is absent again and again', { found: 'absent', absences: MAX_ABSENCES }, 'give_up'],
  ['it is absent at an idempotent agent', { found: 'absent', absences: 1, idempotent: true }, 'send'],
  ['the look-up failed for now', { found: 'inconclusive' }, 'look'],
  ['there is no look-up', { found: 'inconclusive', again: false }, 'give_up'],
  ['there is no look-up at an idempotent agent', { found: 'inconclusive', again: false, idempotent: true }, 'send'],
];

describe('D13, D32: a call of a remote agent whose task is not known', () => {
  it.each(TABLE)('%s → %#', (_, facts, decision) => {
    expect(decideRemote({ ...FACTS, ...facts })).toBe(decision);
  });

  it('waits between looks grow, up to ten times the first', () => {
    expect([0, 1, 2, 50].map((looks) => pollWait(100, looks))).toEqual([100, 150, 225, 1000]);
  });
});

describe('D35: the wait before a message is sent again', () => {
  const wait = (facts: Partial<Parameters<typeof resendWait>[0]>) => resendWait({ sends: 1, retryAfterMs: null, leftMs: 600_000, ...facts });

  it('D35: it grows with the tries, up to 30 s, and ends with them', () => {
    expect([1, 2, 3, MAX_SENDS - 1, MAX_SENDS].map((sends) => wait({ sends }))).toEqual([500, 1000, 2000, 30_000, null]);
  });

  it.each([[5000, 5000], [0, 500], [-1, 500], [-Infinity, 500], [NaN, 500], [1e300, 599_000], [Infinity, 599_000]])('D35: the server asks for %d ms → %d ms, never more than the call has', (retryAfterMs, ms) => {
    expect(wait({ retryAfterMs })).toBe(ms);
  });

  it('D35: a wait leaves time for a try; without that there is none', () => {
    expect([3000, 1200, 1000, 0, -5, NaN].map((leftMs) => wait({ leftMs, retryAfterMs: 60_000 }))).toEqual([2000, 200, null, null, null, null]);
  });
});
