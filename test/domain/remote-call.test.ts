import { describe, expect, it } from 'vitest';
import { MAX_ABSENCES, decideRemote, pollWait } from '../../domain/remote-call.js';
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
