import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startApi, type RunningApi } from '../../api/start.js';
import { HoldfastClient, type HoldfastError } from '../../client/index.js';
import { createPool } from '../../store/pool.js';
import { seedEntry, seedProposal, seedTurn } from '../store/views-seed.js';
import { freshDatabase } from '../support/database.js';
import { freePort } from '../support/wait.js';
import { freshTaskQueue } from '../support/names.js';

const log = pino({ level: 'silent' });
let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: HoldfastClient;
let api: RunningApi;

beforeAll(async () => {
  database = await freshDatabase();
  const pool = createPool({ dsn: database.dsn, max: 1 });
  await seedTurn(pool, { id: 'root', status: 'waiting_approval' });
  const key = await seedEntry(pool, { turn: 'root', step: 1, idx: 0, kind: 'effect', name: 'reserve', state: 'pending' });
  await seedProposal(pool, { id: 'apr', key, turn: 'root' });
  await seedTurn(pool, { id: 'over', status: 'completed', ended: true });
  const done = await seedEntry(pool, { turn: 'over', step: 1, idx: 0, kind: 'effect', name: 'reserve' });
  await seedProposal(pool, { id: 'late', key: done, turn: 'over', state: 'approved' });
  await pool.query(`insert into holdfast.decision (approval_id, version, person, decision) values ('late', 1, 'kim', 'approve')`);
  await pool.end();
  client = await HoldfastClient.connect({
    settings: { temporal: { address: inject('temporalAddress'), namespace: 'default' }, postgres: { dsn: database.dsn, poolMax: 2 }, taskQueue: freshTaskQueue() },
  });
  api = await startApi({ host: '127.0.0.1', port: 0, client, capabilities: () => Promise.resolve([]), log });
});
afterAll(async () => {
  await api?.close();
  await client?.close();
  await database?.drop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${api.url}${path}`, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } });

async function problem(response: Response): Promise<{ status: number; code: string; detail: string }> {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  return (await response.json()) as { status: number; code: string; detail: string };
}

describe('reading', () => {
  test('document 5: turns, approvals and ledger are JSON as the command line prints them', async () => {
    expect(await (await get('/v1/turns/root')).json()).toMatchObject({ turnId: 'root', status: 'waiting_approval', approvals: [{ id: 'apr', effect: 'reserve' }] });
    expect(await (await get('/v1/turns?status=completed')).json()).toMatchObject([{ turnId: 'over' }]);
    expect(await (await get('/v1/approvals')).json()).toMatchObject([{ id: 'apr', version: 1 }]);
    expect(await (await get('/v1/approvals/apr')).json()).toMatchObject({ id: 'apr', hash: 'hash-apr-1' });
    expect(await (await get('/v1/ledger?turn=root&kind=effect')).json()).toMatchObject([{ key: 'root.1.0' }]);
    expect(await (await get('/v1/ledger/root.1.0')).json()).toMatchObject({ key: 'root.1.0', attempts: [], evidence: [] });
  });

  test('healthz and readyz answer', async () => {
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
  });

  test('document 5: the description is OpenAPI 3.1 and names every route', async () => {
    const description = (await (await get('/openapi.json')).json()) as { openapi: string; paths: Record<string, object> };
    expect(description.openapi).toBe('3.1.0');
    expect(Object.entries(description.paths).flatMap(([path, verbs]) => Object.keys(verbs).map((verb) => `${verb} ${path}`)).sort()).toEqual([
      'get /healthz', 'get /readyz', 'get /v1/approvals', 'get /v1/approvals/{id}', 'get /v1/capabilities', 'get /v1/ledger', 'get /v1/ledger/{key}',
      'get /v1/turns', 'get /v1/turns/{id}', 'post /v1/agents/{agent}/threads/{thread}/turns', 'post /v1/approvals/{id}/decisions',
      'post /v1/ledger/reconcile', 'post /v1/ledger/{key}/compensation', 'post /v1/ledger/{key}/settlement', 'post /v1/turns/{id}/cancel', 'post /v1/turns/{id}/input', 'post /v1/turns/{id}/migrate',
    ]);
  });
});

describe('problems have a stable code', () => {
  test.each<[string, () => Promise<Response>, number, string, string?]>([
    ['an unknown turn', () => get('/v1/turns/none'), 404, 'not_found'],
    ['an unknown route', () => get('/v2'), 404, 'no_such_route'],
    ['a status that does not exist', () => get('/v1/turns?status=odd'), 400, 'invalid_input'],
    ['a body that is not JSON', () => post('/v1/turns/root/cancel', '{'), 400, 'invalid_input'],
    ['an unknown key in the body', () => post('/v1/turns/root/cancel', { why: 'x' }), 400, 'invalid_input'],
    ['an unknown query key', () => get('/v1/turns?stauts=completed'), 400, 'invalid_input', 'query: Unrecognized key: "stauts"'],
    ['a misspelt key in a decision (D22)', () => post('/v1/approvals/apr/decisions', { hash: 'hash-apr-1', decision: 'approve', raeson: 'x' }), 400, 'invalid_input', 'body: Unrecognized key: "raeson"'],
    ['a misspelt key in a settlement (D16)', () => post('/v1/ledger/root.1.0/settlement', { version: 0, outcome: 'succeeded', reason: 'r', externalID: 'x' }), 400, 'invalid_input', '"externalID"'],
    ['a misspelt key in a file', () => post('/v1/turns/root/input', { text: 'x', files: [{ id: 'f', name: 'f', mime: 'text/plain', size: 1, hsah: 'x' }] }), 400, 'invalid_input', 'body.files.0: Unrecognized key: "hsah"'],
    ['data that would lose digits (D14)', () => post('/v1/turns/root/input', '{"text":"x","data":{"a":[9007199254740993]}}'), 400, 'invalid_input', 'body.data.a.0: a whole number beyond 2^53'],
    ['data that would lose a key (D14)', () => post('/v1/turns/root/input', '{"text":"x","data":{"__proto__":1}}'), 400, 'invalid_input', '__proto__'],
    ['data nested without end', () => post('/v1/turns/root/input', `{"text":"x","data":${'['.repeat(20_000)}${']'.repeat(20_000)}}`), 400, 'invalid_input', 'nested deeper'],
    ['a body of another type', () => post('/v1/turns/root/cancel', '{}', { 'content-type': 'text/plain' }), 415, 'unsupported_media_type'],
    ['a body that is too large', () => post('/v1/turns/root/input', { text: 'x'.repeat(9 * 1024 * 1024) }), 413, 'too_large'],
    ['an unknown approval', () => post('/v1/approvals/none/decisions', { hash: 'h', decision: 'approve' }), 404, 'unknown_approval'],
    ['an edit that would lose digits (D14)', () => post('/v1/approvals/apr/decisions', '{"hash":"hash-apr-1","decision":"edit","args":{"n":9007199254740993}}'), 422, 'invalid_edit'],
    ['an unknown ledger entry', () => post('/v1/ledger/none/settlement', { version: 0, outcome: 'failed', reason: 'r' }), 404, 'unknown_entry'],
    ['a settlement without reason (D16)', () => post('/v1/ledger/root.1.0/settlement', { version: 0, outcome: 'failed', reason: ' ' }), 400, 'invalid_input'],
  ])('document 5: %s', async (_title, request, status, code, detail = '') => {
    const response = await request();
    expect(response.status).toBe(status);
    expect(await problem(response)).toMatchObject({ status, code, detail: expect.stringContaining(detail) as string });
  });
});

describe('after the run has closed PostgreSQL answers', () => {
  const decide = (user: string, body: object) => post('/v1/approvals/late/decisions', body, { 'x-holdfast-user': user });

  test('D22: an identical repeat gets the same answer, the opposite and another person get already_decided', async () => {
    expect(await (await decide('kim', { hash: 'hash-late-1', decision: 'approve' })).json()).toEqual({ result: 'approved', approvalId: 'late', version: 1, hash: 'hash-late-1' });
    expect(await problem(await decide('kim', { hash: 'hash-late-1', decision: 'reject' }))).toMatchObject({ status: 409, code: 'already_decided' });
    expect(await problem(await decide('lee', { hash: 'hash-late-1', decision: 'approve' }))).toMatchObject({ status: 409, code: 'already_decided' });
    expect(await problem(await decide('kim', { hash: 'another', decision: 'approve' }))).toMatchObject({ status: 409, code: 'wrong_hash' });
  });

  test('D34: migrating a turn that has ended is refused with its code; a digest that is none is a bad request', async () => {
    expect(await problem(await post('/v1/turns/over/migrate', {}))).toMatchObject({ status: 409, code: 'turn_finished' });
    expect(await problem(await post('/v1/turns/over/migrate', { to: 'latest' }))).toMatchObject({ status: 400, code: 'invalid_input' });
  });

  test('D31: cancelling a turn that has ended says how it ended', async () => {
    expect(await (await post('/v1/turns/over/cancel', {})).json()).toEqual({ result: 'already_ended', turnId: 'over', status: 'completed' });
  });
});

test('D2: Temporal is away → the sender is told what is stored and how to go on with it, also without a request id of its own', async () => {
  const away = await HoldfastClient.connect({
    settings: { temporal: { address: `127.0.0.1:${await freePort()}`, namespace: 'default' }, postgres: { dsn: database.dsn, poolMax: 1 }, taskQueue: freshTaskQueue() },
  });
  try {
    const error = await away.submit({ agent: 'clerk', threadId: 'a thread', text: 'hi', as: 'kim' }).then(() => expect.fail('it was taken'), (reason: unknown) => reason as HoldfastError);
    const [, turnId, requestId] = /stored as turn (\S+) and not begun.* in thread "a thread" with the request id "([^"]+)"/.exec(error.message) ?? [];
    expect(error.code).toBe('unreachable');
    expect(await away.turn(turnId ?? '')).toMatchObject({ status: 'queued', requestId });
  } finally {
    await away.close();
  }
});

describe('I9: dev auth serves this machine only', () => {
  test('a host that is not loopback is refused at start', async () => {
    await expect(startApi({ host: '0.0.0.0', port: 0, client, capabilities: () => Promise.resolve([]), log })).rejects.toMatchObject({ code: 'configuration' });
  });

  test('a page of another site, as its browser would send it, is refused', async () => {
    expect(await problem(await get('/v1/turns', { origin: 'http://evil.example' }))).toMatchObject({ status: 403, code: 'foreign_origin' });
  });

  test('a taken port is told with the way out', async () => {
    const port = Number(new URL(api.url).port);
    await expect(startApi({ host: '127.0.0.1', port, client, capabilities: () => Promise.resolve([]), log })).rejects.toThrow('HOLDFAST_API_PORT');
  });
});
