import { createMcpAdapter } from '../../effects/mcp/adapter.js';
import type { McpEffect } from '../../contracts/effect.js';
import { effectCall } from '../support/http-effect.js';
import { reserveTool, startMcp } from '../support/mcp/index.js';
import { effectSuite, type EffectHarness } from './effect-suite.js';

/** The mcp adapter against a real server, with the features that the server really has. */
async function start(transport: 'stdio' | 'http', mode: string): Promise<EffectHarness<McpEffect>> {
  const world = await startMcp(transport, mode);
  const adapter = createMcpAdapter({ secrets: () => undefined });
  const all = reserveTool(world.server);
  const effect = {
    ...all,
    idempotency: mode.includes('keys') ? all.idempotency : null,
    lookup: mode.includes('lookup') ? all.lookup : null,
    correlation: mode.includes('keys') ? null : { argument: 'reference' },
  };
  const nowhere = reserveTool(transport === 'http' ? { url: 'http://127.0.0.1:1/mcp', headersEnv: {} } : { command: 'holdfast-no-such-program', args: [], env: [] });
  let before = 0;
  return {
    adapter,
    call: (key, variant = 1) => effectCall(effect, key, { date: '2026-12-24', people: variant }),
    unreachable: (key) => effectCall(nowhere, key),
    happened: async (key) => world.effects().filter((e) => e.key === key || e.reference === key).length,
    loseAnswer: async () => world.setFaults({ die: 'after' }),
    breakLookup: async () => world.setFaults({ lookup: 'fail' }),
    stall: async () => {
      before = world.calls().length;
      world.setFaults({ stall: true });
    },
    stalled: async () => void (await world.arrived(before + 1)),
    heal: async () => world.setFaults({}),
    stop: async () => {
      await adapter.close();
      await world.stop();
    },
  };
}

effectSuite('mcp over stdio with keys and look-up', { keys: true, lookup: true }, () => start('stdio', 'keys,lookup'));
effectSuite('mcp over HTTP with keys and look-up', { keys: true, lookup: true }, () => start('http', 'keys,lookup'));
effectSuite('mcp over HTTP with plain JSON answers', { keys: true, lookup: true }, () => start('http', 'keys,lookup,json'));
effectSuite('mcp with look-up only', { keys: false, lookup: true }, () => start('stdio', 'lookup'));
effectSuite('mcp with keys only', { keys: true, lookup: false }, () => start('http', 'keys'));
effectSuite('mcp with neither', { keys: false, lookup: false }, () => start('stdio', 'none'));
