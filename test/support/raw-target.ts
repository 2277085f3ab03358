import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A request that reached the target. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface RawTarget {
  url: string;
  received: Received[];
  /** How every further request is answered. */
  answer: (response: ServerResponse, request: Received) => void;
  stop(): Promise<void>;
}

/** An outside system that answers exactly what a test says, on loopback. */
export async function startRawTarget(): Promise<RawTarget> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const received = { method, url, headers, body: Buffer.concat(chunks).toString() };
    target.received.push(received);
    target.answer(response, received);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target: RawTarget = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (response) => response.writeHead(500).end(),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return target;
}

/** Answers with a status, a body and headers; an object is sent as JSON. */
export function reply(status: number, body: unknown = '', headers: Record<string, string> = {}): RawTarget['answer'] {
  return (response) => response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
}
