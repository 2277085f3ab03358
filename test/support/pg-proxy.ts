import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What happens to the next `commit` that passes: its answer is kept back for ever, the connection is cut after it, or it never arrives. */
export type CommitFault = 'hold_answer' | 'lose_answer' | 'lose_commit';

export interface PgProxy {
  /** The database's DSN by way of this proxy. */
  dsn: string;
  /** Strikes the next commit only. */
  onCommit(fault: CommitFault): void;
  /** Resolves when a commit was answered and its answer is kept back. */
  held(): Promise<void>;
  /** Cuts all connections and takes no new ones, until `open`. */
  shut(): void;
  /** Resolves when a connection that was wanted while it is shut has been refused. */
  refused(): Promise<void>;
  open(): void;
  stop(): Promise<void>;
}

/** Stands between a client and PostgreSQL and cuts the connection where a test says. */
export async function startPgProxy(target: string): Promise<PgProxy> {
  const upstreamAt = new URL(target);
  const sockets = new Set<Socket>();
  let hasHeld = () => {};
  const held = new Promise<void>((resolve) => { hasHeld = resolve; });
  let fault: CommitFault | null = null;
  let isShut = false;
  let hasRefused = () => {};
  let refused = Promise.resolve();
  const server = createServer((client) => {
    const upstream = connect(Number(upstreamAt.port), upstreamAt.hostname);
    let struck: CommitFault | null = null;
    const cut = () => { client.destroy(); upstream.destroy(); };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => { sockets.delete(socket); cut(); });
    }
    if (isShut) {
      hasRefused();
      return cut();
    }
    client.on('data', (bytes) => {
      if (fault !== null && bytes.includes('commit\0')) [struck, fault] = [fault, null];
      if (struck === 'lose_commit') cut();
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (struck === null) return client.write(bytes);
      if (struck === 'hold_answer') hasHeld();
      else cut();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dsn = new URL(target);
  dsn.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cutAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    dsn: dsn.href,
    onCommit: (next) => { fault = next; },
    held: () => held,
    shut: () => {
      isShut = true;
      refused = new Promise((resolve) => { hasRefused = resolve; });
      cutAll();
    },
    refused: () => refused,
    open: () => { isShut = false; },
    stop: async () => {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
