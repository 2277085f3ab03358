import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpTarget } from '../../contracts/effect.js';

/** What is handed to a mail server. `raw` is the whole message. */
export interface Outgoing {
  from: string;
  to: string[];
  raw: Buffer;
}

export interface Login {
  user: string;
  pass: string;
}

/**
 * How a session ended. `refused`: the server said no to the sender, a recipient or the mail, and has taken nothing (`permanent`: 5xx). `not_sent`:
 * no byte of the mail left. `lost`: the mail was on its way and the server's word about it is missing.
 */
export type Delivery =
  | { kind: 'accepted'; response: string }
  | { kind: 'refused'; permanent: boolean; response: string }
  | { kind: 'not_sent' | 'lost'; message: string };

/** A server that shuts down says this instead of an answer, so after the mail it says nothing about the mail. */
const SHUTTING_DOWN = 421;

/**
 * Delivers one mail to all of its recipients or to none. Where the server refuses one recipient, the connection is closed before the first byte
 * of the mail; without the final dot a server keeps nothing (RFC 5321, 4.1.1.4). Never throws.
 */
export function deliver(target: SmtpTarget, login: Login | null, mail: Outgoing, timeoutMs: number, signal: AbortSignal): Promise<Delivery> {
  return new Promise((resolve) => {
    const refusals: string[] = [];
    let envelope = false;
    let body = false;
    const onReply = (line: unknown) => {
      if (envelope && !body && typeof line === 'string' && /^[45]\d\d/.test(line)) refusals.push(line);
    };
    const connection = new SMTPConnection(optionsOf(target, timeoutMs, onReply));
    const end = (delivery: Delivery) => {
      signal.removeEventListener('abort', onAbort);
      connection.close();
      resolve(delivery);
    };
    const fail = (error: Error) => end(refusals[0] === undefined ? judge(error, body) : refused(refusals));
    const onAbort = () => end({ kind: body ? 'lost' : 'not_sent', message: 'the mail server did not answer within the time limit' });
    signal.addEventListener('abort', onAbort, { once: true });
    connection.on('error', fail);
    async function* content(): AsyncGenerator<Buffer> {
      if (refusals.length > 0) throw new Error('a recipient was refused');
      body = true;
      yield mail.raw;
    }
    const send = () => {
      envelope = true;
      connection.send({ from: mail.from, to: mail.to, size: mail.raw.length }, Readable.from(content()), (error, info) => {
        if (error) fail(error);
        else end({ kind: 'accepted', response: info?.response ?? '' });
      });
    };
    connection.connect((error) => {
      if (error) return fail(error);
      if (login === null) return send();
      connection.login({ credentials: login }, (problem) => (problem ? fail(problem) : send()));
    });
  });
}

/** `none` stays unencrypted also where the server offers more; `starttls` fails where it does not. */
function optionsOf({ host, port, security }: SmtpTarget, timeoutMs: number, onReply: (line: unknown) => void) {
  const logger = { debug: (entry: { tnx?: string }, line: unknown) => { if (entry.tnx === 'server') onReply(line); } };
  return {
    host, port, secure: security === 'tls', requireTLS: security === 'starttls', ignoreTLS: security === 'none',
    connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs,
    // The replies to each recipient are told nowhere else before the mail leaves.
    logger, transactionLog: true,
  };
}

function refused(refusals: string[]): Delivery {
  const permanent = refusals.find((line) => line.startsWith('5'));
  return { kind: 'refused', permanent: permanent !== undefined, response: permanent ?? refusals[0] ?? '' };
}

function judge(error: Error & { responseCode?: number; response?: string | false; code?: string; originalCode?: string }, body: boolean): Delivery {
  const { responseCode: code, response, originalCode } = error;
  const said = code !== undefined && code >= 400 && !(body && code === SHUTTING_DOWN);
  if (said) return { kind: 'refused', permanent: code >= 500, response: typeof response === 'string' ? response : error.message };
  return { kind: body ? 'lost' : 'not_sent', message: originalCode ?? error.code ?? error.message };
}
