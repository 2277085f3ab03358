import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { toFailure } from '../../activities/failure.js';
import { CallError, MAX_FAILURE_MESSAGE, MAX_RETRY_AFTER_MS, clampMessage, retryAfterMs } from '../../domain/failure.js';

const NOW = Date.UTC(2026, 0, 1);

describe('failure classes', () => {
  it.each<[string | null, number | null]>([
    [null, null], ['', null], ['  ', null], ['soon', null], ['2', 2000], [' 2 ', 2000], ['0.5', 500], ['0', 0], ['-5', 0], ['100000', MAX_RETRY_AFTER_MS], ['Infinity', null],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7000], ['Wed, 31 Dec 2025 23:59:00 GMT', 0], ['Fri, 02 Jan 2026 00:00:00 GMT', MAX_RETRY_AFTER_MS],
  ])('D35: Retry-After %j is %s ms', (header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms);
  });

  it('D35: whatever a server writes, the wait is none or bounded', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.date().map(String)), (header) => {
      const ms = retryAfterMs(header, NOW);
      if (ms !== null) expect(ms >= 0 && ms <= MAX_RETRY_AFTER_MS).toBe(true);
    }));
  });

  it('case 09, case 37: a message of any size and content is kept short, well-formed and without NUL', () => {
    const long = clampMessage('\u{1f600}'.repeat(2_000_000));
    expect(long.length).toBeLessThan(MAX_FAILURE_MESSAGE + 40);
    expect(long).toMatch(/\(4000000 characters\)$/);
    for (const text of ['a\0b', '\ud83d', `x${'\u{1f600}'.repeat(MAX_FAILURE_MESSAGE)}`]) {
      const kept = new CallError('terminal', text).message;
      expect(kept.isWellFormed() && !kept.includes('\0')).toBe(true);
    }
    expect(clampMessage('short')).toBe('short');
  });

  const sql = (code: string) => Object.assign(new Error('sql'), { code });
  it.each<[string, unknown, string, boolean]>([
    ['a retryable call', new CallError('retryable', 'busy', 1500), 'retryable', false],
    ['a terminal call', new CallError('terminal', 'no'), 'terminal', true],
    ['an unknown outcome', new CallError('unknown', 'lost'), 'unknown', true],
    ['a call that reached its time limit', new DOMException('x', 'TimeoutError'), 'retryable', false],
    ['a lost connection to PostgreSQL', sql('08006'), 'retryable', false],
    ['a deadlock', sql('40P01'), 'retryable', false],
    ['PostgreSQL shutting down', sql('57P01'), 'retryable', false],
    ['a connection that ended under a statement', new Error('Connection terminated unexpectedly'), 'retryable', false],
    ['no connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'retryable', false],
    ['a violated constraint', sql('23514'), 'terminal', true],
    ['text that PostgreSQL refuses', sql('22P05'), 'terminal', true],
    ['a defect', new TypeError('x is undefined'), 'defect', false],
    ['something that is no error', 'oops', 'defect', false],
  ])('D35: %s', (_name, error, type, nonRetryable) => {
    expect(toFailure(error)).toMatchObject({ type, nonRetryable });
  });

  it('D35: the wait that a server asked for is passed on; cancellations and classified failures are untouched', () => {
    expect(toFailure(new CallError('retryable', 'busy', 1500))).toMatchObject({ nextRetryDelay: 1500 });
    for (const error of [new CancelledFailure('x'), ApplicationFailure.create({ message: 'x' })]) expect(toFailure(error)).toBe(error);
  });
});
