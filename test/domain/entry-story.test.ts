import { describe, expect, it } from 'vitest';
import { callOutcomeSchema, ledgerStateSchema } from '../../contracts/ledger.js';
import { eventsOf, standingOfEntry } from '../../domain/entry-story.js';

const attempt = (at: string, outcome: (typeof callOutcomeSchema.options)[number], note: string | null = null) => ({ physicalCallId: at, at, outcome, note });

describe('the story of a ledger entry', () => {
  it('D15: calls and look-ups come in the order in which they happened, with what each of them said', () => {
    const events = eventsOf({
      attempts: [attempt('10:00', 'uncertain', 'no answer: ECONNRESET'), attempt('10:05', 'succeeded')],
      evidence: [
        { at: '10:01', by: 'resume', found: 'inconclusive', note: 'the look-up answered 503' }, { at: '10:03', by: 'kim', found: null, note: 'settled as retry: seen in the log' },
      ],
    });
    expect(events.map(({ text }) => text)).toEqual([
      'call 1 left: no usable answer: it may have had its effect (no answer: ECONNRESET)', 'a look-up (resume) gave no clear answer (the look-up answered 503)',
      'kim: settled as retry: seen in the log', 'call 2 left: the target confirmed it',
    ]);
  });

  it.each(callOutcomeSchema.options)('D10: a call that ended as %s is told in words', (outcome) => {
    expect(eventsOf({ attempts: [attempt('1', outcome)], evidence: [] })[0]?.text).toMatch(/^call 1 left: [a-z ,:-]+$/);
  });

  it.each(ledgerStateSchema.options)('D16: an effect in the state %s says in words what is true', (state) => {
    const text = standingOfEntry({ kind: 'effect', state, outcome: state === 'reconciled' ? 'failed' : null, externalId: null, attempts: [attempt('1', 'uncertain')] });
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect(/\bIt was done\b/.test(text)).toBe(state === 'succeeded');
  });
});
