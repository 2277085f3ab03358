import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { McpEffect } from '../../contracts/effect.js';
import type { Json, JsonObject } from '../../contracts/json.js';
import { createMcpAdapter } from '../../effects/mcp/adapter.js';
import { MAX_RESULT_CHARS } from '../../effects/clipped.js';
import { effectCall } from '../support/http-effect.js';
import { reserveTool, startMcp, type McpFaults, type McpWorld } from '../support/mcp/index.js';
import { waitFor } from '../support/wait.js';

const SECRET = 'sk-very-secret-value';
const calm = (): AbortSignal => new AbortController().signal;
const adapter = createMcpAdapter({ secrets: (name) => (name === 'SHOP_TOKEN' ? SECRET : undefined) });
let world: McpWorld;
beforeAll(async () => { world = await startMcp('stdio'); });
afterAll(async () => {
  await adapter.close();
  await world.stop();
});
beforeEach(() => world.setFaults({}));

let n = 0;
const next = (): string => `k-${n += 1}`;
const perform = (change: Partial<McpEffect> = {}, args?: JsonObject, key = next()) => adapter.perform(effectCall(reserveTool(world.server, change), key, args), calm());
const look = (change: Partial<McpEffect> = {}, args?: JsonObject, key = next()) => adapter.lookup(effectCall(reserveTool(world.server, change), key, args), calm());
const mcp = (change: Partial<McpEffect['mcp']>) => ({ mcp: { ...reserveTool(world.server).mcp, ...change } });
const text = (value: string): Json => ({ content: [{ type: 'text', text: value }] });

describe('mcp perform: what an answer means (D10)', () => {
  const rows: [string, string, McpFaults][] = [
    ['an error of the tool, which may have come after the change', 'uncertain', { error: { code: 'fully_booked' } }],
    ['structured content with the id', 'succeeded', { answer: { content: [], structuredContent: { id: 'R-1' } } }],
    ['a wrapped result with the id', 'succeeded', { answer: { content: [], structuredContent: { result: { id: 17 } } } }],
    ['JSON in the only text', 'succeeded', { answer: text('{"id":"R-1"}') }],
    ['an id beyond 2^53 in text', 'succeeded', { answer: text('{"id":12345678901234567891}') }],
    ['an id beyond 2^53 that the protocol has rounded', 'uncertain', { answer: { content: [], structuredContent: { id: 2 ** 60 } } }],
    ['no id', 'uncertain', { answer: text('{"ok":true}') }],
    ['text that is not JSON', 'uncertain', { answer: text('<html>') }],
    ['no content', 'uncertain', { answer: { content: [] } }],
    ['a server that dies after the change', 'uncertain', { die: 'after' }],
    ['a server that dies before the change', 'uncertain', { die: 'before' }],
  ];
  it.each(rows)('D10: %s is %s', async (_what, kind, faults) => {
    world.setFaults(faults);
    expect((await perform()).kind).toBe(kind);
  });

  it('D10: a result that the server itself cannot send is "invalid params", although the tool has run: uncertain', async () => {
    const { length } = world.effects();
    world.setFaults({ answer: { content: 'done' } });
    expect(await perform()).toMatchObject({ kind: 'uncertain', message: expect.stringContaining('-32602') });
    expect(world.effects()).toHaveLength(length + 1);
  });

  it('D10: errors = "rejected" is what makes an error of the tool a rejection', async () => {
    world.setFaults({ error: { code: 'fully_booked' } });
    expect(await perform(mcp({ errors: 'rejected' }))).toMatchObject({ kind: 'rejected', result: { code: 'fully_booked' }, message: expect.stringContaining('fully_booked') });
  });

  it('D14: an error that names a mismatch is a conflict only where that is declared', async () => {
    await perform({}, { date: 'a', people: 1 }, 'same');
    expect((await perform({}, { date: 'a', people: 2 }, 'same')).kind).toBe('conflict');
    expect((await perform({ idempotency: { argument: 'key', retentionMs: 1000, onMismatch: 'ignored' } }, { date: 'a', people: 2 }, 'same')).kind).toBe('uncertain');
    expect(world.effects().filter(({ key }) => key === 'same')).toHaveLength(1);
  });

  it('D10: arguments that the server refuses before the tool runs are an error like any other, because the protocol says it the same way', async () => {
    const { length } = world.effects();
    expect((await perform({}, { date: 1 })).kind).toBe('uncertain');
    expect(world.effects()).toHaveLength(length);
  });

  it('D10: without result_id any answer succeeds, and the text is the result', async () => {
    world.setFaults({ answer: text('done\0') });
    expect(await perform(mcp({ resultId: null }))).toEqual({ kind: 'succeeded', externalId: null, result: 'done\uFFFD' });
  });

  it('D8: a long result is cut and says so; its id is still read', async () => {
    world.setFaults({ answer: { content: [], structuredContent: { id: 'R-1', text: 'x'.repeat(MAX_RESULT_CHARS) } } });
    expect(await perform()).toMatchObject({ kind: 'succeeded', externalId: 'R-1', result: { clipped: true } });
  });

  it('D8: an answer above the reading limit ends the connection, and the call is uncertain; the next one connects anew', async () => {
    world.setFaults({ answer: text('x'.repeat(11_000_000)) });
    expect((await perform()).kind).toBe('uncertain');
    expect((await perform()).kind).toBe('succeeded');
  });
});

describe('mcp perform: what is sent', () => {
  it('D11: the key travels as an argument, and only where it is declared', async () => {
    await perform({}, undefined, 'k-sent');
    expect(world.calls().at(-1)?.args).toEqual({ date: '2026-12-24', people: 2, key: 'k-sent' });
    await perform({ idempotency: null, correlation: { argument: 'reference' } }, undefined, 'k-ref');
    expect(world.calls().at(-1)?.args).toEqual({ date: '2026-12-24', people: 2, reference: 'k-ref' });
  });

  it('D21: an argument with the name of the key is not replaced in silence; nothing is sent', async () => {
    const { length } = world.calls();
    expect(await perform({}, { date: 'x', people: 1, key: 'mine' })).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('"key"') });
    expect(world.calls()).toHaveLength(length);
  });

  it('D10: a tool that the server does not have is not_sent and named', async () => {
    expect(await perform(mcp({ tool: 'reserv' }))).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('no tool "reserv"') });
  });

  it('D10: a program that does not start is not_sent, with what it said', async () => {
    const other = await startMcp('stdio');
    other.setFaults({ start: 'fail' });
    expect(await perform(mcp({ server: other.server }))).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('no licence file') });
    await other.stop();
  });

  it('D10: lines on its output that are no messages do no harm', async () => {
    const other = await startMcp('stdio');
    other.setFaults({ noise: true });
    expect((await perform(mcp({ server: other.server }))).kind).toBe('succeeded');
    await other.stop();
  });

  it('D10: a call that is ended tells the server to cancel', async () => {
    world.setFaults({ stall: true });
    const { length } = world.calls();
    const end = new AbortController();
    const performing = adapter.perform(effectCall(reserveTool(world.server), next()), end.signal);
    await world.arrived(length + 1);
    end.abort();
    expect((await performing).kind).toBe('uncertain');
    await waitFor(() => world.calls().some(({ tool }) => tool === 'cancelled'), { what: 'the server to hear of it' });
  });
});

describe('mcp look-up (D13)', () => {
  const rows: [string, NonNullable<McpFaults['lookup']>, string][] = [
    ['null', 'null', 'absent'], ['an error', 'fail', 'inconclusive'], ['text that is not JSON', 'garbage', 'inconclusive'], ['several matches', 'many', 'inconclusive'],
    ['a match without its id', 'no_id', 'inconclusive'], ['no content', 'nothing', 'inconclusive'], ['an item under another key', 'other', 'inconclusive'],
    ['"not found" in words of its own', 'words', 'inconclusive'],
  ];
  it.each(rows)('D13: %s (%s) is %s', async (_what, lookup, kind) => {
    world.setFaults({ lookup });
    expect((await look()).kind).toBe(kind);
  });

  it('D13: found brings the external id and the item', async () => {
    const done = await perform({}, undefined, 'k-found');
    expect(await look({}, undefined, 'k-found')).toMatchObject({ kind: 'found', externalId: done.kind === 'succeeded' ? done.externalId : '', result: { people: 2 } });
  });

  it('I5: an argument that a look-up needs and the call does not have is inconclusive; nothing is asked', async () => {
    const byArgument = { lookup: { ...reserveTool(world.server).lookup!, args: { key: '{args.order}' } } };
    expect(await look(byArgument, {})).toMatchObject({ kind: 'inconclusive', note: expect.stringContaining('"order"') });
  });
});

describe('mcp secrets (I5)', () => {
  const withEnv = (env: string[]) => mcp({ tool: 'echo', resultId: null, server: { ...(world.server as { command: string; args: string[] }), env } });
  const plain = { idempotency: null, lookup: null };

  it('I5: a program gets the named variables and no others of the worker; what it echoes is masked', async () => {
    process.env['HOLDFAST_TEST_OTHER'] = 'x';
    const done = await perform({ ...withEnv(['SHOP_TOKEN']), ...plain });
    expect(done).toMatchObject({ kind: 'succeeded', result: 'it is ***' });
    await perform();
    expect(world.calls().flatMap(({ env }) => env)).not.toContain('HOLDFAST_TEST_OTHER');
  });

  it('I5: a missing secret is not_sent and names the variable', async () => {
    expect(await perform({ ...withEnv(['NOT_SET']), ...plain })).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('NOT_SET') });
  });
});
