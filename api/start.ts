import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import type { Logger } from 'pino';
import type { HoldfastClient } from '../client/client.js';
import { HoldfastError } from '../client/errors.js';
import { createApp } from './app.js';
import { isLoopback } from './guard.js';
import type { CapabilityLines } from './routes-meta.js';

export interface ApiOptions {
  /** Port 0 takes a free one. */
  host: string;
  port: number;
  /** Takes a free port when `port` is taken, because nobody asked for just this one. */
  orFree?: boolean;
  client: HoldfastClient;
  capabilities: CapabilityLines;
  log: Logger;
}

export interface RunningApi {
  url: string;
  /** Lets running requests end, for at most five seconds. */
  close(): Promise<void>;
}

const CLOSE_MS = 5_000;

/**
 * Serves the HTTP API.
 * @throws HoldfastError `configuration` for a host that is not loopback (I9) or a port that is taken
 */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { host, port, log } = options;
  if (!isLoopback(host)) {
    throw new HoldfastError('configuration', `HOLDFAST_API_HOST is "${host}", but dev auth serves loopback only. Use 127.0.0.1, and put a proxy that authenticates in front of it.`);
  }
  const app = createApp({
    client: options.client,
    capabilities: options.capabilities,
    onError: (error, request) => log.error({ err: error, ...request }, 'request failed'),
  });
  const serveOn = (at: number) => listen((onListen) => serve({ fetch: app.fetch, hostname: host.replace(/^\[|\]$/g, ''), port: at }, onListen) as Server, `${host}:${at}`);
  const server = await serveOn(port).catch((error: unknown) => {
    if (options.orFree === true && isTaken(error)) return serveOn(0);
    throw error;
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return { url: `http://${name}:${bound}`, close: () => closeServer(server) };
}

function isTaken(error: unknown): boolean {
  return error instanceof HoldfastError && error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'EADDRINUSE';
}

function listen(start: (onListen: () => void) => Server, where: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = start(() => resolve(server));
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is already in use. Set HOLDFAST_API_PORT to another port' : `cannot be served (${error.code ?? error.message})`;
      reject(new HoldfastError('configuration', `${where} ${why}.`, { cause: error }));
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const hurry = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
    server.close(() => {
      clearTimeout(hurry);
      resolve();
    });
    server.closeIdleConnections();
  });
}
