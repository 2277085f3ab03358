import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../contracts/effect.js';
import { guarantees } from '../../domain/capabilities.js';

const nothing: Capabilities = { idempotency: null, lookup: null, cancel: false, fencing: false, compensation: null };
const keys = { how: 'header Idempotency-Key', retentionMs: 86_400_000, onMismatch: 'conflict' } as const;
const lookup = { by: 'key', settleAfterMs: 2000, authoritativeAbsence: true };

describe('capability table (D19)', () => {
  it('D19: a system with nothing: unknown, and a late landing stays possible', () => {
    expect(guarantees(nothing)).toMatchObject({ idempotency: 'none', lookup: 'none', afterCrash: expect.stringMatching(/^unknown/), lateLanding: expect.stringMatching(/^possible/) });
  });

  it('D15: look-up without keys: sent again after proven absence, and a late landing stays possible', () => {
    const row = guarantees({ ...nothing, lookup });
    expect(row.afterCrash).toContain('after the settle time is sent again');
    expect(row.lateLanding).toMatch(/^possible/);
    expect(row.duplicates).toContain('unless');
  });

  it('D13: absence that is not authoritative proves nothing', () => {
    const row = guarantees({ ...nothing, lookup: { ...lookup, authoritativeAbsence: false } });
    expect(row.lookup).toContain('proves nothing');
    expect(row.afterCrash).toContain('unknown');
  });

  it('D13: with keys the promise ends with the retention', () => {
    const row = guarantees({ ...nothing, idempotency: keys });
    expect(row.duplicates).toContain('1 day');
    expect(row.afterCrash).toContain('a person decides');
    expect(row.lateLanding).toContain('while the key is remembered');
  });

  it('D19: no combination claims "exactly once", and every cell says something', () => {
    const any = fc.record({
      idempotency: fc.option(fc.constantFrom(keys, { ...keys, onMismatch: 'ignored' as const, retentionMs: 1 })),
      lookup: fc.option(fc.constantFrom(lookup, { ...lookup, authoritativeAbsence: false, settleAfterMs: 0 })),
      cancel: fc.boolean(), fencing: fc.boolean(), compensation: fc.option(fc.constant('cancel_reservation')),
    });
    fc.assert(fc.property(any, (capabilities) => {
      for (const text of Object.values(guarantees(capabilities))) {
        expect(text).not.toBe('');
        expect(text).not.toMatch(/exactly.once|undefined|null|NaN/i);
      }
    }));
  });
});
