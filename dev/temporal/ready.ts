import { Connection, type ConnectionOptions } from '@temporalio/client';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 50;

/** One attempt to connect and to see the namespace. Throws what the server or the network said. */
export async function reachTemporal(options: ConnectionOptions, namespace: string): Promise<void> {
  const connection = await Connection.connect({ connectTimeout: 5_000, ...options });
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } finally {
    await connection.close();
  }
}

/** Waits until the server answers for its namespace. Returns null then, else why it did not: it ended, or time is up. */
export async function temporalReady(address: string, namespace: string, withinMs: number, hasExited: () => boolean): Promise<string | null> {
  const until = Date.now() + withinMs;
  for (;;) {
    try {
      // A gRPC connection that is refused waits a second before it tries again; a plain one tells at once.
      await knock(address);
      await reachTemporal({ address }, namespace);
      return null;
    } catch (error) {
      if (hasExited()) return 'it ended';
      if (Date.now() > until) return `no answer within ${withinMs / 1000} s: ${error instanceof Error ? error.message : String(error)}`;
    }
    await delay(EVERY_MS);
  }
}

function knock(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
