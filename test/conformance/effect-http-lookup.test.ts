import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpEffect } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import { createHttpAdapter } from '../../effects/http/adapter.js';
import { effectCall, reserveEffect } from '../support/http-effect.js';
import { reply, startRawTarget, type RawTarget } from '../support/raw-target.js';

const adapter = createHttpAdapter({ secrets: () => undefined });
const calm = (): AbortSignal => new AbortController().signal;
let target: RawTarget;
beforeAll(async () => { target = await startRawTarget(); });
afterAll(() => target.stop());
beforeEach(() => { target.received.length = 0; });

const look = (change: Partial<HttpEffect> = {}, args?: JsonObject) => adapter.lookup(effectCall(reserveEffect(target.url, change), 'a/b c', args), calm());
const at = (path: string) => ({ lookup: { url: `${target.url}${path}`, absence: 'authoritative', settleAfterMs: 0, everyMs: 1000 } as const });

describe('http look-up (D13)', () => {
  const rows: [string, number, unknown, string][] = [
    ['one item in a list', 200, [{ id: 'R-1' }], 'found'],
    ['one object', 200, { id: 'R-1' }, 'found'],
    ['an empty list', 200, [], 'absent'],
    ['not found', 404, '', 'absent'],
    ['gone', 410, '', 'absent'],
    ['several matches', 200, [{ id: 'R-1' }, { id: 'R-2' }], 'inconclusive'],
    ['a match without its id', 200, [{ status: 'confirmed' }], 'inconclusive'],
    ['an empty object', 200, {}, 'inconclusive'],
    ['null', 200, 'null', 'inconclusive'],
    ['a list of text', 200, ['R-1'], 'inconclusive'],
    ['garbage', 200, '<html>', 'inconclusive'],
    ['cut-off JSON', 200, '[{"id":"R-1"}', 'inconclusive'],
    ['an empty body', 200, '', 'inconclusive'],
    ['no content', 204, '', 'inconclusive'],
    ['accepted', 202, [], 'inconclusive'],
    ['a redirect', 302, '', 'inconclusive'],
    ['not permitted', 401, '', 'inconclusive'],
    ['too many requests', 429, '', 'inconclusive'],
    ['a server error', 500, '[]', 'inconclusive'],
  ];
  it.each(rows)('D13: %s (%i) is %4$s', async (_what, status, body, kind) => {
    target.answer = reply(status, body);
    const answer = await look();
    expect(answer.kind).toBe(kind);
    expect(answer.note).not.toBe('');
  });

  it('D13: found brings the external id and the item', async () => {
    target.answer = reply(200, [{ id: 77, people: 2 }]);
    expect(await look()).toMatchObject({ kind: 'found', externalId: '77', result: { id: 77, people: 2 } });
  });

  it('D13: an item that carries another key is not ours', async () => {
    target.answer = reply(200, [{ id: 'R-1', reference: 'somebody else' }]);
    expect((await look({ correlation: { field: 'reference' } })).kind).toBe('inconclusive');
    target.answer = reply(200, [{ id: 'R-1', reference: 'a/b c' }]);
    expect((await look({ correlation: { field: 'reference' } })).kind).toBe('found');
  });

  it('D13: a target that cannot be reached, or resets, is inconclusive', async () => {
    target.answer = (response) => response.destroy();
    expect((await look()).kind).toBe('inconclusive');
    expect((await look({ lookup: { ...at('').lookup, url: 'http://127.0.0.1:1/{key}' } })).kind).toBe('inconclusive');
  });

  it('I5: a missing secret is inconclusive and named', async () => {
    const { http } = reserveEffect(target.url);
    expect(await look({ http: { ...http, headersEnv: { Authorization: 'NOT_SET' } } })).toMatchObject({ kind: 'inconclusive', note: expect.stringContaining('NOT_SET') });
  });
});

describe('look-up URLs (I5)', () => {
  it('I5: key and arguments are percent-encoded', async () => {
    target.answer = reply(200, []);
    await look(at('/r/{key}?d={args.date}&n={args.people}'), { date: 'x&y=1/../#', people: 2 });
    expect(target.received[0]?.url).toBe('/r/a%2Fb%20c?d=x%26y%3D1%2F..%2F%23&n=2');
  });

  it.each([['..'], ['.'], [''], [null], [{ a: 1 }], ['\ud800']])('I5: the argument %j cannot be part of a URL; nothing is asked', async (id) => {
    target.answer = reply(200, [{ id: 'R-1' }]);
    expect((await look(at('/r/{args.id}'), { id })).kind).toBe('inconclusive');
    expect(target.received).toHaveLength(0);
  });

  it('I5: an argument that is missing, or only inherited, cannot be part of a URL', async () => {
    expect((await look(at('/r/{args.id}'), {})).kind).toBe('inconclusive');
    expect((await look(at('/r/{args.constructor}'), {})).kind).toBe('inconclusive');
  });

  it('I5: an argument cannot choose the host', async () => {
    const { port } = new URL(target.url);
    const url = `http://127.0.0.{args.n}:${port}/`;
    expect(await look({ lookup: { ...at('').lookup, url } }, { n: '1' })).toMatchObject({ kind: 'inconclusive', note: expect.stringContaining('host') });
    expect(target.received).toHaveLength(0);
  });
});
