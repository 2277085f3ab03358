import { afterEach, describe, expect, it } from 'vitest';
import { createMcpAdapter, type McpAdapter } from '../../effects/mcp/adapter.js';
import { fillArgs } from '../../effects/mcp/fill-args.js';
import { effectCall } from '../support/http-effect.js';
import { reserveTool, startMcp, type McpWorld } from '../support/mcp/index.js';
import { waitFor } from '../support/wait.js';

const calm = (): AbortSignal => new AbortController().signal;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => { for (const stop of stops.splice(0).reverse()) await stop(); });

async function start(transport: 'stdio' | 'http', mode?: string): Promise<{ world: McpWorld; adapter: McpAdapter }> {
  const world = await startMcp(transport, mode);
  const adapter = createMcpAdapter({ secrets: () => undefined });
  stops.push(world.stop, adapter.close);
  return { world, adapter };
}

describe('mcp connections (D20)', () => {
  it('D20: calls of one worker share one program, also when they come at once; closing ends it', async () => {
    const { world, adapter } = await start('stdio');
    const effect = reserveTool(world.server);
    await Promise.all(['a', 'b', 'c'].map((key) => adapter.perform(effectCall(effect, key), calm())));
    await adapter.lookup(effectCall(effect, 'a'), calm());
    expect(world.effects()).toHaveLength(3);
    expect(world.living()).toHaveLength(1);
    await adapter.close();
    await waitFor(() => world.living().length === 0, { what: 'the program to end' });
    expect((await adapter.perform(effectCall(effect, 'd'), calm())).kind).toBe('not_sent');
  });

  it('D20: a program that was killed between two calls is started again', async () => {
    const { world, adapter } = await start('stdio');
    const effect = reserveTool(world.server);
    await adapter.perform(effectCall(effect, 'a'), calm());
    process.kill(world.living()[0]!, 'SIGKILL');
    await waitFor(() => world.living().length === 0, { what: 'the program to be gone' });
    // Between the death and the news of it a call may go nowhere; it says so, and the next one has a new program.
    const second = await waitFor(async () => { const result = await adapter.perform(effectCall(effect, 'b'), calm()); return result.kind === 'succeeded' && result; }, { what: 'a new program' });
    expect(second.kind).toBe('succeeded');
    expect(world.effects().filter(({ key }) => key === 'b')).toHaveLength(1);
  });

  it.each([[404, 'not_sent'], [400, 'not_sent'], [401, 'rejected'], [307, 'uncertain'], [429, 'uncertain'], [500, 'uncertain'], [503, 'uncertain']])('D10: over HTTP, status %i to a call is %s, and nothing is sent twice', async (status, kind) => {
    const { world, adapter } = await start('http');
    const effect = reserveTool(world.server);
    world.setFaults({ status });
    expect((await adapter.perform(effectCall(effect, 'k'), calm())).kind).toBe(kind);
    expect(world.calls()).toEqual([]);
    expect((await adapter.perform(effectCall(effect, 'k'), calm())).kind).toBe('succeeded');
    expect(world.effects()).toHaveLength(1);
  });

  it.each([['keys', 'after'], ['keys,json', 'after'], ['keys', 'in_stream']] as const)('D10: over HTTP (%s), an answer that is cut (%s) is uncertain at once, not at the deadline', async (mode, die) => {
    const { world, adapter } = await start('http', mode);
    world.setFaults({ die });
    expect(await adapter.perform(effectCall(reserveTool(world.server, { timeoutMs: 3_600_000 }), 'k'), calm())).toMatchObject({ kind: 'uncertain' });
    expect(world.effects()).toHaveLength(1);
  });
});

describe('mcp connections that are of no use any more (D20, D27)', () => {
  const limited = (timeoutMs: number) => AbortSignal.timeout(timeoutMs);

  it('D20, D27: a program that hangs is replaced after the call that it held up, and ended, although it hears neither the end of its input nor SIGTERM', async () => {
    const { world, adapter } = await start('stdio');
    const effect = reserveTool(world.server);
    await adapter.perform(effectCall(effect, 'a'), calm());
    const [stuck] = world.living();
    world.setFaults({ hang: true });
    expect((await adapter.perform(effectCall(effect, 'b'), limited(300))).kind).toBe('uncertain');
    expect((await adapter.perform(effectCall(effect, 'c'), calm())).kind).toBe('succeeded');
    await waitFor(() => !world.living().includes(stuck!), { what: 'the stuck program to be ended' });
    expect(world.living()).toHaveLength(1);
  });

  it('D27: a program that hangs is ended with its worker', async () => {
    const { world, adapter } = await start('stdio');
    world.setFaults({ hang: true });
    expect((await adapter.perform(effectCall(reserveTool(world.server), 'a'), limited(2000))).kind).toBe('uncertain');
    await adapter.close();
    await waitFor(() => world.living().length === 0, { what: 'the program to be gone' });
  });

  it('D20: a call that takes too long says nothing against a program that answers: it is kept, with what else runs in it', async () => {
    const { world, adapter } = await start('stdio');
    const effect = reserveTool(world.server);
    world.setFaults({ stall: true });
    const other = adapter.perform(effectCall(effect, 'a'), calm());
    await world.arrived(1);
    expect((await adapter.perform(effectCall(effect, 'b'), limited(300))).kind).toBe('uncertain');
    world.setFaults({});
    expect((await other).kind).toBe('succeeded');
    expect((await adapter.perform(effectCall(effect, 'c'), calm())).kind).toBe('succeeded');
    expect(new Set(world.living()).size).toBe(1);
  });

  it('D20, D27: a session whose protocol was broken takes no more calls, and is ended only when no call of it runs', async () => {
    const { world, adapter } = await start('stdio');
    const effect = reserveTool(world.server);
    world.setFaults({ stall: true });
    const running = adapter.perform(effectCall(effect, 'a'), calm());
    await world.arrived(1);
    world.setFaults({ stall: true, lookup: 'broken' });
    expect((await adapter.lookup(effectCall(effect, 'x'), calm())).kind).toBe('inconclusive');
    world.setFaults({ stall: true });
    expect((await adapter.lookup(effectCall(effect, 'x'), calm())).kind).toBe('absent');
    expect(world.living()).toHaveLength(2);
    world.setFaults({});
    expect((await running).kind).toBe('succeeded');
    await waitFor(() => world.living().length === 1, { what: 'the old program to end' });
  });

  it('D13: over HTTP, a look-up whose session the server has forgotten is asked again over a new one', async () => {
    const { world, adapter } = await start('http');
    const effect = reserveTool(world.server);
    await adapter.perform(effectCall(effect, 'k'), calm());
    world.setFaults({ forget: true });
    expect((await adapter.lookup(effectCall(effect, 'k'), calm())).kind).toBe('found');
  });
});

describe('mcp inspection (D19)', () => {
  it('D19: a server that fits has nothing against the configuration', async () => {
    const { world, adapter } = await start('stdio');
    expect(await adapter.inspect(reserveTool(world.server), calm())).toEqual([]);
  });

  it('D19: missing tools, arguments that cannot fit and hints to the contrary are told, one line each', async () => {
    const { world, adapter } = await start('stdio');
    world.setFaults({ hints: 'contrary' });
    const effect = reserveTool(world.server, { inputSchema: { type: 'object', properties: { date: {}, persons: {} } } });
    expect(await adapter.inspect({ ...effect, lookup: { ...effect.lookup!, tool: 'search' } }, calm())).toEqual([
      'the tool requires "people", which input_schema does not have', 'the tool does not know the argument "persons"',
      'idempotency is declared, but the tool "reserve" says that it is not idempotent', 'the MCP server has no tool "search", which the look-up asks',
    ]);
    expect(await adapter.inspect({ ...effect, mcp: { ...effect.mcp, tool: 'find', server: { command: 'holdfast-no-such-program', args: [], env: [] } } }, calm())).toEqual([expect.stringContaining('ENOENT')]);
  });
});

describe('arguments of a look-up (I5)', () => {
  it('I5: a placeholder alone keeps the type of the argument; inside a text it is put as text; names are left alone', () => {
    const args = { people: 2, list: [1, 'a'], name: '{key}' };
    expect(fillArgs({ '{key}': '{key}', n: '{args.people}', all: { of: ['{args.list}'] }, ref: 'x-{key}-{args.people}', name: '{args.name}', on: true }, 'K', args)).toEqual({
      ok: true, args: { '{key}': 'K', n: 2, all: { of: [[1, 'a']] }, ref: 'x-K-2', name: '{key}', on: true },
    });
  });

  it.each([[{}, '{args.a}'], [{ a: null }, '{args.a}'], [{ a: '' }, '{args.a}'], [{ a: [1] }, 'x{args.a}'], [{}, '{args.constructor}']])('I5: with %j, %s cannot be filled', (args, template) => {
    expect(fillArgs({ q: template }, 'K', args)).toMatchObject({ ok: false });
  });
});
