import MailComposer from 'nodemailer/lib/mail-composer';
import type { JsonObject } from '../../contracts/json.js';
import { mailSchema } from '../../contracts/mail.js';
import type { Outgoing } from './session.js';

/** A mail that is ready to leave, or why it cannot be made from these arguments. */
export type Message = { ok: true; mail: Outgoing; id: string } | { ok: false; problem: string };

/**
 * Makes the mail of a call. Its Message-ID is made of the key, the same for every try, so that a person finds it in a mailbox or a server's log
 * (D11). Arguments are checked here as well: a schema of the configuration may be wider.
 */
export async function composeMail(from: string, key: string, args: JsonObject): Promise<Message> {
  const checked = mailSchema.safeParse(args);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0] ?? { path: [], message: 'not usable' };
    return { ok: false, problem: `${path.length === 0 ? 'the arguments' : path.join('.')}: ${message}` };
  }
  const id = messageId(from, key);
  const node = new MailComposer({ ...checked.data, from, messageId: id, disableFileAccess: true, disableUrlAccess: true, newline: '\r\n' }).compile();
  const { from: sender, to } = node.getEnvelope();
  if (typeof sender !== 'string' || to.length === 0) return { ok: false, problem: 'from or to: holds no address' };
  return { ok: true, id, mail: { from: sender, to, raw: await node.build() } };
}

function messageId(from: string, key: string): string {
  const host = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
  return `<${key.replaceAll(/[^\w.-]/g, '_')}@${host}>`;
}
