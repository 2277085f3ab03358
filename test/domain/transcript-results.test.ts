import { describe, expect, it } from 'vitest';
import type { Json } from '../../contracts/json.js';
import type { LedgerState } from '../../contracts/ledger.js';
import { MAX_RESULT_CHARS, turnGroups } from '../../domain/assemble.js';
import { callStatus, invalidText, resultText } from '../../domain/transcript-results.js';
import type { CallRecord, CallStatus } from '../../domain/transcript-results.js';

const record = (change: Partial<CallRecord>): CallRecord => ({
  kind: 'effect', name: 'reserve', state: 'succeeded', outcome: null, result: null, externalId: null, reason: null, args: { people: 4 }, proposal: null, ...change,
});
const told = (change: Partial<CallRecord>, sameArgs = true): Json => {
  const text = resultText(record(change), { people: 2 }, sameArgs);
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

type Row = [LedgerState, CallRecord['outcome'], CallRecord['proposal'], CallStatus, RegExp];
const DONE = /^(?!.*not done)/;
const ROWS: Row[] = [
  ['succeeded', null, null, 'succeeded', DONE],
  ['reconciled', 'succeeded', null, 'succeeded', DONE],
  ['reconciled', 'failed', null, 'failed', /was not done/],
  ['failed', null, null, 'failed', /was not done/],
  ['conflict', null, null, 'conflict', /other arguments. It was not done/],
  ['cancelled', null, null, 'cancelled', /cancelled before it began/],
  ['cancelled', null, 'rejected', 'rejected', /A person rejected it/],
  ['cancelled', null, 'expired', 'expired', /Nobody approved it in time/],
  ['pending', null, null, 'cancelled', /cancelled before it began/],
  ['dispatched', null, null, 'unknown', /not known whether it was done/],
  ['unknown', null, null, 'unknown', /not known whether it was done. Do not say that it was/],
];

describe('what the model is told of a call', () => {
  it.each(ROWS)('D6, D24, D28: %s (outcome %s, proposal %s) is told as %s', (state, outcome, proposal, status, meaning) => {
    const entry = record({ state, outcome, proposal });
    expect(callStatus(entry)).toBe(status);
    expect(told({ state, outcome, proposal })).toMatchObject({ status });
    expect(resultText(entry, {}, true)).toMatch(meaning);
  });

  it('D6: the table above has every ledger state', () => {
    const all: Record<LedgerState, true> = { pending: true, dispatched: true, succeeded: true, failed: true, unknown: true, reconciled: true, cancelled: true, conflict: true };
    expect(new Set(ROWS.map(([state]) => state))).toEqual(new Set(Object.keys(all)));
  });

  it('D28: an earlier version that expired or was rejected does not hide what really ran', () => {
    for (const proposal of ['rejected', 'expired'] as const) {
      expect(told({ state: 'succeeded', proposal, externalId: 'r-1' })).toEqual({ status: 'succeeded', id: 'r-1' });
      expect(told({ state: 'unknown', proposal })).toMatchObject({ status: 'unknown' });
    }
  });

  it.each<[string, Partial<CallRecord>, Json]>([
    ['the result itself', { result: { id: 'r-1', seats: 4 } }, { id: 'r-1', seats: 4 }],
    ['a text as it is', { kind: 'child', result: 'It is sunny.' }, 'It is sunny.'],
    ['a list', { result: [1, 2] }, [1, 2]],
    ['false and zero, which are results', { result: false }, false],
    ['only an external id', { externalId: 'r-1' }, { status: 'succeeded', id: 'r-1' }],
    ['no result', {}, { status: 'succeeded' }],
    ['a blank text (case 38)', { result: ' \n' }, '(no content)'],
    ['an empty text (case 38)', { kind: 'child', result: '' }, '(no content)'],
    ['a failure with its reason', { state: 'failed', reason: 'Full.' }, { status: 'failed', message: 'It was not done. Full.' }],
    ['text that pretends to be a status', { kind: 'child', result: '{"status":"succeeded"}' }, { status: 'succeeded' }],
  ])('D6: a call with %s is told as that', (_name, change, expected) => {
    expect(told(change)).toEqual(expected);
  });

  it('D23: other arguments than asked for are named, with what was asked', () => {
    const edited = { note: expect.stringContaining('edited') as string, asked: { people: 2 }, executed: { people: 4 } };
    expect(told({ result: { id: 'r-1' } }, false)).toEqual({ id: 'r-1', edited });
  });

  it('D7: a call that was refused before running says so and why', () => {
    expect(JSON.parse(invalidText('people must be integer'))).toEqual({ status: 'invalid', message: 'The call was not run: people must be integer' });
  });

  it('case 09, case 37: a long result is cut between characters, and says how much is left out', () => {
    const long = `${'x'.repeat(MAX_RESULT_CHARS - 1)}${'\u{1f600}'.repeat(10)}`;
    const step = { step: 1, reason: null, externalId: null, outcome: null, proposal: null, args: {} };
    const reply = { use: 'calls', text: '', calls: [{ index: 0, id: 'c', name: 'look', args: {}, problem: null }] };
    const [group] = turnGroups([
      { ...step, kind: 'model', name: 'm', state: 'succeeded', result: reply, idx: -1 }, { ...step, kind: 'child', name: 'look', state: 'succeeded', result: long, idx: 0 },
    ], []);
    const text = group?.[1]?.text ?? '';
    expect(text.isWellFormed()).toBe(true);
    expect(text).toBe(`${'x'.repeat(MAX_RESULT_CHARS - 1)}\n[… 20 more characters left out]`);
  });
});
