import { createServer } from 'node:net';

/** A TCP port that was free on the loopback address a moment ago; another process may still take it first. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

const MAX_TRIES = 5;

/** Calls `start` with free ports again while it fails because another process took one of them first. */
export async function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await Promise.all(Array.from({ length: count }, freePort));
    try {
      return await start(ports);
    } catch (error) {
      const lostRace = error instanceof Error && /address already in use|could not bind/i.test(error.message);
      if (!lostRace || attempt === MAX_TRIES) throw error;
    }
  }
}
