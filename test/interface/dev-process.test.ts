import { describe, expect, it } from 'vitest';
import { onFreePorts } from '../../dev/ports.js';
import { startServer } from '../../dev/process.js';

/** A server that says why it cannot start, and then prints a stack that is longer than what is kept. */
const PANICS = `process.stderr.write('bind: address already in use\\n' + 'frame\\n'.repeat(20000) + 'the last frame\\n')`;

const start = () => startServer({
  name: 'test', command: process.execPath, args: ['-e', PANICS], env: process.env, signal: 'TERM', owner: null, logFile: null, scratch: null,
});

describe('a server that ends with a long stack', () => {
  it('I1: its reason and the end of its output are kept, within bounds', async () => {
    const server = await start();
    let newest = (): void => undefined;
    const all = new Promise<void>((resolve) => { newest = resolve; });
    server.onOutput(() => { if (server.output().includes('the last frame')) newest(); });
    await all;
    expect(server.output()).toMatch(/^bind: address already in use\n/);
    expect(server.output().length).toBeLessThan(11_000);
  });

  it('I3: a lost race for a port is known by it, and other ports are tried', async () => {
    let tries = 0;
    const ports = await onFreePorts(1, async (free) => {
      tries += 1;
      if (tries > 1) return free;
      const server = await start();
      const told = new Promise<void>((resolve) => server.onOutput(() => { if (server.output().includes('the last frame')) resolve(); }));
      await told;
      throw new Error(`it did not start:\n${server.output()}`);
    });
    expect(tries).toBe(2);
    expect(ports).toHaveLength(1);
  });
});
