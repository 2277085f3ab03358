import { describe, expect, it } from 'vitest';
import type { LedgerState } from '../../contracts/ledger.js';
import type { FinalStatus } from '../../contracts/turn.js';
import { closingText } from '../../domain/closing.js';
import type { ToldEffect } from '../../domain/closing.js';

const effect = (state: LedgerState, change: Partial<ToldEffect> = {}): ToldEffect => ({ name: 'reserve', state, outcome: null, externalId: null, proposal: null, undo: null, ...change });

describe('the response of a turn that did not complete', () => {
  it.each<[FinalStatus, string | null, string]>([
    ['cancelled', null, 'The request was cancelled. Nothing was changed outside.'],
    ['failed', 'max_steps', 'The request could not be completed (max_steps). Nothing was changed outside.'],
    ['failed', 'model_refused', 'The request could not be completed (model_refused). Nothing was changed outside.'],
    ['rejected', null, 'The answer was held back by a review. Nothing was changed outside.'],
    ['budget_exceeded', 'tokens', 'The request was stopped at its budget (tokens). Nothing was changed outside.'],
    ['expired', null, 'The request ran out of time. Nothing was changed outside.'],
  ])('D28, D35: %s with the reason %s says so', (status, reason, text) => {
    expect(closingText(status, reason, [])).toBe(text);
  });

  it.each<[LedgerState, ToldEffect['outcome'], 'done' | 'unknown' | 'nothing']>([
    ['succeeded', null, 'done'], ['reconciled', 'succeeded', 'done'], ['reconciled', 'failed', 'nothing'], ['failed', null, 'nothing'], ['conflict', null, 'nothing'],
    ['cancelled', null, 'nothing'], ['pending', null, 'nothing'], ['dispatched', null, 'unknown'], ['unknown', null, 'unknown'],
  ])('D28: an effect that is %s (outcome %s) is told as %s', (state, outcome, expected) => {
    const text = closingText('cancelled', null, [effect(state, { outcome })]);
    expect({ done: text.includes('Already done'), unknown: text.includes('Not known'), nothing: text.includes('Nothing was changed') })
      .toEqual({ done: expected === 'done', unknown: expected === 'unknown', nothing: expected === 'nothing' });
  });

  it('D28: what happened and what is not known are both told, by name and external id', () => {
    const text = closingText('cancelled', 'too late', [effect('succeeded', { externalId: 'r-1' }), effect('succeeded'), effect('unknown', { name: 'mail' }), effect('failed', { name: 'pay' })]);
    expect(text).toBe('The request was cancelled (too late). Already done and not undone: reserve (r-1), reserve. Not known whether it was done: mail. A person has to check.');
  });
});
