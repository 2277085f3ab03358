import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SmtpEffect } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import { createSmtpAdapter } from '../../effects/smtp/adapter.js';
import { effectCall } from '../support/http-effect.js';
import { startMailServer, type MailServer } from '../support/mail-server.js';
import { mailEffect } from '../support/smtp-effect.js';
import { effectSuite, type EffectHarness } from './effect-suite.js';

const adapter = createSmtpAdapter({ secrets: (name) => ({ MAIL_USER: 'kim', MAIL_PASSWORD: 'hunter2hunter2' })[name] });
const calm = () => new AbortController().signal;
const MAIL = { to: 'a@example.com', subject: 'Your table', text: 'Hello,\n.\nyour table is reserved.' };

async function start(): Promise<EffectHarness<SmtpEffect>> {
  const server = await startMailServer();
  return {
    adapter,
    call: (key, variant = 1) => effectCall(mailEffect(server.port), key, { ...MAIL, subject: `Mail ${variant}` }),
    unreachable: (key) => effectCall(mailEffect(1), key, MAIL),
    happened: async (key) => server.received.filter(({ raw }) => raw.includes(`Message-ID: <${key}@example.com>`)).length,
    loseAnswer: async () => server.strike('hang_up'),
    breakLookup: async () => undefined,
    stall: async () => server.strike('silent'),
    stalled: () => server.silent(),
    heal: async () => undefined,
    stop: server.stop,
  };
}

effectSuite('smtp', { keys: false, lookup: false }, start);

describe('smtp', () => {
  let server: MailServer;
  beforeAll(async () => { server = await startMailServer(); });
  afterAll(() => server?.stop());

  const send = (args: JsonObject, smtp: Partial<SmtpEffect['smtp']> = {}, key = 't1.1.0') => adapter.perform(effectCall(mailEffect(server.port, smtp), key, args), calm());
  const taken = () => server.received.length;

  it('D11: a mail reaches all its recipients, and its Message-ID is made of the key', async () => {
    const done = await send({ ...MAIL, to: ['a@example.com', 'b@example.com'], cc: 'c@example.com', subject: '예약 확인', html: '<p>Hi</p>' });
    expect(done).toMatchObject({ kind: 'succeeded', externalId: '<t1.1.0@example.com>', result: { recipients: ['a@example.com', 'b@example.com', 'c@example.com'] } });
    expect(server.received.at(-1)?.to.sort()).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(server.received.at(-1)?.raw).toContain('Message-ID: <t1.1.0@example.com>');
    expect(server.received.at(-1)?.raw).toContain('Cc: c@example.com');
  });

  it.each([
    ['a line break in the subject', { ...MAIL, subject: 'Hi\r\nBcc: evil@example.com' }, 'subject'],
    ['a line break in an address', { ...MAIL, to: 'a@example.com>\r\nRCPT TO:<evil@example.com' }, 'to'],
    ['a name in an address', { ...MAIL, to: 'Kim <a@example.com>' }, 'to'],
    ['two addresses in one', { ...MAIL, cc: ['a@example.com,evil@example.com'] }, 'cc'],
    ['attachments', { ...MAIL, attachments: [{ path: '/etc/passwd' }] }, 'attachments'],
    ['a file instead of a text', { ...MAIL, text: { path: '/etc/passwd' } }, 'text'],
    ['no text', { to: 'a@example.com', subject: 'x' }, 'text'],
  ])('D7, D20: %s: nothing is sent and the argument is named', async (_, args, name) => {
    const before = taken();
    expect(await send(args)).toMatchObject({ kind: 'rejected', message: expect.stringContaining(name) as string });
    expect(taken()).toBe(before);
  });

  it.each([[550, 'rejected'], [450, 'not_sent']])('D20: one recipient of two is refused with %i: nobody gets the mail, and it is %s', async (code, kind) => {
    const before = taken();
    server.refuses.set('gone@example.com', code);
    const done = await send({ ...MAIL, to: ['a@example.com', 'gone@example.com'] });
    expect(done).toMatchObject({ kind, message: expect.stringContaining(`${code} `) as string });
    expect(taken()).toBe(before);
  });

  it.each([[554, 'rejected'], [451, 'not_sent'], [421, 'uncertain']])('D10: the whole mail is answered with %i: %s', async (code, kind) => {
    const before = taken();
    server.refuseNext(code);
    expect((await send(MAIL)).kind).toBe(kind);
    expect(taken()).toBe(before);
  });

  it('D20: a login that is refused is a rejection, and the password is nowhere in it', async () => {
    const closed = await startMailServer({ authOptional: false, allowInsecureAuth: true, onAuth: ({ password }, _session, done) => done(new Error(`no ${String(password)}`)) });
    const done = await adapter.perform(effectCall(mailEffect(closed.port, { userEnv: 'MAIL_USER', passwordEnv: 'MAIL_PASSWORD' }), 'k', MAIL), calm());
    expect(done.kind).toBe('rejected');
    expect(JSON.stringify(done)).not.toContain('hunter2');
    expect(closed.received).toEqual([]);
    await closed.stop();
  });

  it('D20: a secret that is not set, and a server without the encryption that is asked for: nothing is sent', async () => {
    expect(await send(MAIL, { userEnv: 'MAIL_USER', passwordEnv: 'NO_SUCH' })).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('NO_SUCH') as string });
    const before = taken();
    expect(['not_sent', 'rejected']).toContain((await send(MAIL, { security: 'starttls' })).kind);
    expect(taken()).toBe(before);
  });

  it('D10: a server that never greets is not_sent at the deadline', async () => {
    const mute = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const port = (mute.address() as AddressInfo).port;
    const done = await adapter.perform(effectCall(mailEffect(port), 'k', MAIL), AbortSignal.timeout(100));
    expect(done.kind).toBe('not_sent');
    mute.close();
  });
});
