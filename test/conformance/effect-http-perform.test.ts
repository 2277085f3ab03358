import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpEffect } from '../../contracts/effect.js';
import { createHttpAdapter } from '../../effects/http/adapter.js';
import { MAX_RESULT_CHARS } from '../../effects/clipped.js';
import { MAX_BODY_BYTES } from '../../effects/http/body.js';
import { effectCall, reserveEffect } from '../support/http-effect.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';

const SECRET = 'Bearer sk-very-secret-value';
const adapter = createHttpAdapter({ secrets: (name) => (name === 'BOOKING_TOKEN' ? SECRET : undefined) });
const calm = (): AbortSignal => new AbortController().signal;
let target: RawTarget;
beforeAll(async () => { target = await startRawTarget(); });
afterAll(() => target.stop());
beforeEach(() => { target.received.length = 0; });

const perform = (change: Partial<HttpEffect> = {}) => adapter.perform(effectCall(reserveEffect(target.url, change), 't1.1.0'), calm());
const http = (change: Partial<HttpEffect['http']>) => ({ http: { ...reserveEffect(target.url).http, ...change } });

describe('http perform: what is sent', () => {
  it('I6: the body is the arguments, the key is a header, secrets come from the environment', async () => {
    target.answer = reply(201, { id: 'R-1' });
    await perform(http({ headersEnv: { Authorization: 'BOOKING_TOKEN' } }));
    const [request] = target.received;
    expect(JSON.parse(request?.body ?? '')).toEqual({ date: '2026-12-24', people: 2 });
    expect(request).toMatchObject({ method: 'POST', headers: { 'idempotency-key': 't1.1.0', authorization: SECRET, 'content-type': 'application/json' } });
  });

  it('D13: correlation carries the key in a field or a header', async () => {
    target.answer = reply(201, { id: 'R-1' });
    await perform({ idempotency: null, correlation: { field: 'reference' } });
    await perform({ idempotency: null, correlation: { header: 'X-Ref' } });
    expect(JSON.parse(target.received[0]?.body ?? '')).toMatchObject({ reference: 't1.1.0' });
    expect(target.received[0]?.headers['idempotency-key']).toBeUndefined();
    expect(target.received[1]?.headers['x-ref']).toBe('t1.1.0');
  });

  it('D21: an argument with the name of the correlation field is not replaced in silence; nothing is sent', async () => {
    const call = effectCall(reserveEffect(target.url, { correlation: { field: 'date' } }), 'k');
    expect(await adapter.perform(call, calm())).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('"date"') });
    expect(target.received).toHaveLength(0);
  });

  it('I5: a missing secret is not_sent and names the variable', async () => {
    expect(await perform(http({ headersEnv: { Authorization: 'NOT_SET' } }))).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('NOT_SET') });
    expect(target.received).toHaveLength(0);
  });

  it('D10: a redirect is not followed', async () => {
    target.answer = reply(307, '', { location: '/elsewhere' });
    expect((await perform()).kind).toBe('uncertain');
    expect(target.received).toHaveLength(1);
  });
});

describe('http perform: what an answer means (D10)', () => {
  const rows: [string, number, unknown, string][] = [
    ['a declared rejection', 422, { error: 'fully_booked' }, 'rejected'],
    ['a rejection that is not declared', 403, '', 'uncertain'],
    ['request timeout', 408, '', 'uncertain'],
    ['too many requests', 429, '', 'uncertain'],
    ['server error', 500, '', 'uncertain'],
    ['unavailable', 503, '', 'uncertain'],
    ['a bare 409', 409, { error: 'busy' }, 'uncertain'],
    ...[400, 409, 422].map((status): [string, number, unknown, string] => [`a ${status} that names a mismatch`, status, { error: 'idempotency_mismatch' }, 'conflict']),
    ['success with an id', 200, { id: 'R-1' }, 'succeeded'],
    ['success with a numeric id', 200, { id: 17 }, 'succeeded'],
    ['success without the id', 200, { ok: true }, 'uncertain'],
    ['success with an empty id', 200, { id: '' }, 'uncertain'],
    ['success with null as id', 200, { id: null }, 'uncertain'],
    ['success with an object as id', 200, { id: {} }, 'uncertain'],
    ['success with NUL in the id', 200, { id: 'a\0b' }, 'uncertain'],
    ['success with half a surrogate in the id', 200, '{"id":"\\ud800"}', 'uncertain'],
    ['success that is not JSON', 200, '<html>', 'uncertain'],
    ['success with two different ids', 200, '{"id":"a","id":"b"}', 'uncertain'],
    ['success without a body', 204, '', 'uncertain'],
    ['an array', 200, [{ id: 'R-1' }], 'uncertain'],
    ['very deep nesting', 200, `{"id":"R","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'uncertain'],
  ];
  it.each(rows)('D10: %s (%i) is %4$s', async (_what, status, body, kind) => {
    target.answer = reply(status, body);
    expect((await perform()).kind).toBe(kind);
  });

  it('D14: a mismatch is only taken as conflict where the target declares it', async () => {
    target.answer = reply(409, { error: 'idempotency_mismatch' });
    expect((await perform({ idempotency: { header: 'K', retentionMs: 1000, onMismatch: 'ignored' } })).kind).toBe('uncertain');
    expect((await perform(http({ rejects: [409] }))).kind).toBe('conflict');
    target.answer = reply(409, { error: 'fully_booked' });
    expect((await perform(http({ rejects: [409] }))).kind).toBe('rejected');
  });

  it('D14: an id beyond 2^53 keeps its digits', async () => {
    target.answer = reply(200, '{"id":12345678901234567891,"n":9007199254740993}');
    expect(await perform()).toEqual({ kind: 'succeeded', externalId: '12345678901234567891', result: { id: '12345678901234567891', n: '9007199254740993' } });
  });

  it('D35: Retry-After is passed on, clamped', async () => {
    target.answer = reply(429, '', { 'retry-after': '7' });
    expect(await perform()).toMatchObject({ retryAfterMs: 7000 });
    target.answer = reply(503, '', { 'retry-after': '999999' });
    expect(await perform()).toMatchObject({ retryAfterMs: 300_000 });
  });
});

describe('http perform: hostile answers', () => {
  it('D10: without result_id any 2xx succeeds, as JSON or as text', async () => {
    target.answer = reply(200, 'done\0');
    expect(await perform(http({ resultId: null }))).toEqual({ kind: 'succeeded', externalId: null, result: 'done\uFFFD' });
    target.answer = reply(204);
    expect(await perform(http({ resultId: null }))).toEqual({ kind: 'succeeded', externalId: null, result: null });
  });

  it('D8: a long result is cut and says so; its id is still read', async () => {
    target.answer = reply(200, { id: 'R-1', text: 'x'.repeat(MAX_RESULT_CHARS) });
    expect(await perform()).toMatchObject({ kind: 'succeeded', externalId: 'R-1', result: { clipped: true } });
  });

  it('D8: an answer above the reading limit: done without result_id, uncertain with it', async () => {
    target.answer = reply(200, `{"id":"R-1","text":"${'x'.repeat(MAX_BODY_BYTES)}"}`);
    expect((await perform()).kind).toBe('uncertain');
    expect(await perform(http({ resultId: null }))).toMatchObject({ kind: 'succeeded', result: { clipped: true } });
  });

  it('I5: a secret that the target echoes is masked everywhere', async () => {
    target.answer = (response, request) => reply(201, { id: 'R-1', echo: request.headers.authorization })(response, request);
    const done = await perform(http({ headersEnv: { Authorization: 'BOOKING_TOKEN' } }));
    expect(done.kind).toBe('succeeded');
    expect(JSON.stringify(done)).not.toContain('very-secret');
  });

  it('D10: a body that is cut off is uncertain, whatever the status said', async () => {
    target.answer = (response) => {
      response.writeHead(201, { 'content-length': '1000' });
      response.write('{"id":"R-1"', () => response.destroy());
    };
    expect((await perform()).kind).toBe('uncertain');
    expect((await perform(http({ resultId: null }))).kind).toBe('uncertain');
  });

  it('D10: an answer that stops half way ends with the deadline, as uncertain', async () => {
    const deadline = new AbortController();
    target.answer = (response) => {
      response.writeHead(201);
      response.write('{"id":', () => deadline.abort());
    };
    expect((await adapter.perform(effectCall(reserveEffect(target.url), 'slow'), deadline.signal)).kind).toBe('uncertain');
  });
});

describe('http perform: a target that cannot be reached (D10)', () => {
  it('D10: a port where nobody listens is not_sent', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    for (const host of ['127.0.0.1', 'localhost']) {
      expect((await adapter.perform(effectCall(reserveEffect(`http://${host}:${port}`), 'k'), calm())).kind).toBe('not_sent');
    }
  });

  it.each([
    ['a reset', { code: 'ECONNRESET' }, 'uncertain'],
    ['a closed socket', { code: 'UND_ERR_SOCKET' }, 'uncertain'],
    ['a missing header in time', { code: 'UND_ERR_HEADERS_TIMEOUT' }, 'uncertain'],
    ['a failed name look-up', { code: 'ENOTFOUND' }, 'not_sent'],
    ['a connection that is not made in time', { code: 'UND_ERR_CONNECT_TIMEOUT' }, 'not_sent'],
    ['an unknown error', {}, 'uncertain'],
  ])('D10: %s', async (_what, fields, kind) => {
    const cause = Object.assign(new Error('x'), fields);
    const broken = createHttpAdapter({ secrets: () => undefined, fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) });
    expect((await broken.perform(effectCall(reserveEffect(target.url), 'k'), calm())).kind).toBe(kind);
  });

  it('D10: of several addresses one reset is enough to be uncertain', async () => {
    const error = (code: string): Error => Object.assign(new Error(code), { code });
    const failing = (codes: string[]) => createHttpAdapter({
      secrets: () => undefined, fetch: () => Promise.reject(new TypeError('fetch failed', { cause: new AggregateError(codes.map(error)) })),
    });
    const call = effectCall(reserveEffect(target.url), 'k');
    expect((await failing(['ECONNREFUSED', 'ECONNRESET']).perform(call, calm())).kind).toBe('uncertain');
    expect((await failing(['ECONNREFUSED', 'ECONNREFUSED']).perform(call, calm())).kind).toBe('not_sent');
  });
});
