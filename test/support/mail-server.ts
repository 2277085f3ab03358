import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface Received {
  to: string[];
  raw: string;
}

/** What the server does with the next mail after its final dot, having taken it: nothing more, or it hangs up. */
export type MailFault = 'silent' | 'hang_up';

export interface MailServer {
  port: number;
  received: Received[];
  /** Recipients that it refuses, with the code of the refusal. */
  refuses: Map<string, number>;
  /** Answers the next whole mail with this code instead of taking it. */
  refuseNext(code: number): void;
  strike(fault: MailFault): void;
  /** Resolves when a mail was taken and is not answered. */
  silent(): Promise<void>;
  stop(): Promise<void>;
}

/** A real SMTP server on loopback, which keeps what it takes. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  let fault: MailFault | null = null;
  let nextCode: number | null = null;
  let isSilent = () => {};
  const silence = new Promise<void>((resolve) => { isSilent = resolve; });
  const refuses = new Map<string, number>();
  const received: Received[] = [];
  const refusal = (code: number) => Object.assign(new Error('not here'), { responseCode: code });
  const server = new SMTPServer({
    authOptional: true, disabledCommands: ['STARTTLS'], hideSTARTTLS: true, logger: false,
    onRcptTo: ({ address }, _session, done) => { const code = refuses.get(address); done(code === undefined ? null : refusal(code)); },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (nextCode !== null) {
          const code = nextCode;
          nextCode = null;
          return done(refusal(code));
        }
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks).toString() });
        const struck = fault;
        fault = null;
        if (struck === null) return done();
        if (struck === 'silent') return isSilent();
        for (const connection of server.connections as Set<{ _socket: { destroy(): void } }>) connection._socket.destroy();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port, received, refuses,
    refuseNext: (code) => { nextCode = code; },
    strike: (next) => { fault = next; },
    silent: () => silence,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
