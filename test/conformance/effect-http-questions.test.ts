import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalPolicy } from '../../contracts/effect.js';
import type { Json } from '../../contracts/json.js';
import { createHttpAdapter } from '../../effects/http/adapter.js';
import { adapterOf } from '../../effects/registry.js';
import { effectCall, reserveEffect } from '../support/http-effect.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';

const adapter = createHttpAdapter({ secrets: () => undefined });
const calm = (): AbortSignal => new AbortController().signal;
let target: RawTarget;
beforeAll(async () => { target = await startRawTarget(); });
afterAll(() => target.stop());
beforeEach(() => { target.received.length = 0; });

function call(change: Partial<ApprovalPolicy>) {
  const approval: ApprovalPolicy = {
    expiresInMs: 1000, roles: [], approvers: 1, requesterMayApprove: false, attempts: 1, preview: null, precondition: null, ...change,
  };
  return effectCall(reserveEffect(target.url, { approval }), 'k');
}
const preview = () => adapter.preview(call({ preview: { url: `${target.url}/preview` } }), calm());
const check = (expected: Record<string, Json>) => {
  return adapter.precondition(call({ precondition: { url: `${target.url}/free?date={args.date}`, expect: expected } }), calm());
};

describe('http preview (D21)', () => {
  it('D21: key and arguments are sent, before and after come back', async () => {
    target.answer = reply(200, { before: { seats: 4 }, after: { seats: 2 }, more: 1 });
    expect(await preview()).toEqual({ kind: 'preview', before: { seats: 4 }, after: { seats: 2 } });
    expect(JSON.parse(target.received[0]?.body ?? '')).toEqual({ key: 'k', args: { date: '2026-12-24', people: 2 } });
  });

  it('D21: without a preview URL the arguments stand against nothing', async () => {
    expect(await adapter.preview(call({}), calm())).toEqual({ kind: 'preview', before: {}, after: { date: '2026-12-24', people: 2 } });
  });

  it('D21: 4xx refuses; trouble may be tried again', async () => {
    target.answer = reply(422, { error: 'fully_booked' });
    expect(await preview()).toMatchObject({ kind: 'refused', message: expect.stringContaining('fully_booked') });
    for (const answer of [reply(429), reply(500), reply(200, 'x'), reply(200, {}), reply(200, { before: 1, after: {} })]) {
      target.answer = answer;
      await expect(preview()).rejects.toMatchObject({ name: 'CallError', failure: 'retryable' });
    }
  });
});

describe('http precondition (D25)', () => {
  it('D25: holds when every expected field is equal, deeply', async () => {
    target.answer = reply(200, { available: true, detail: { b: [1, 2], a: 1 }, seatsLeft: 3 });
    expect(await check({ available: true, detail: { a: 1.0, b: [1, 2] } })).toEqual({ holds: true });
    expect(target.received[0]?.url).toBe('/free?date=2026-12-24');
  });

  it('D25: otherwise the message names the field, what was expected and what is', async () => {
    target.answer = reply(200, { available: false });
    expect(await check({ available: true })).toEqual({ holds: false, message: 'the precondition no longer holds: available must be true, but is false' });
    expect(await check({ toString: 1 })).toMatchObject({ holds: false, message: expect.stringContaining('missing') });
    target.answer = reply(200, { available: 'true' });
    expect(await check({ available: true })).toMatchObject({ holds: false });
  });

  it('D25: 4xx does not hold; an answer that cannot be used is not taken as a yes', async () => {
    target.answer = reply(404);
    expect(await check({ available: true })).toMatchObject({ holds: false });
    for (const answer of [reply(503), reply(200, '[]'), reply(200, 'yes')]) {
      target.answer = answer;
      await expect(check({ available: true })).rejects.toMatchObject({ failure: 'retryable' });
    }
  });

  it('D25: a missing secret is terminal and named', async () => {
    const base = call({ precondition: { url: `${target.url}/free`, expect: {} } });
    const effect = { ...base.effect, http: { ...base.effect.http, headersEnv: { Authorization: 'NOT_SET' } } };
    await expect(adapter.precondition({ ...base, effect }, calm())).rejects.toMatchObject({ failure: 'terminal', message: expect.stringContaining('NOT_SET') });
  });
});

describe('registry (D19)', () => {
  it('D19: finds the adapter by type and names what is missing', () => {
    const effect = reserveEffect(target.url);
    expect(adapterOf({ http: adapter }, effect)).toBe(adapter);
    expect(() => adapterOf({ http: adapter }, { ...effect, type: 'toString' as 'http' })).toThrow('toString');
  });
});
