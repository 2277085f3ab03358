import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { startMailServer, type MailServer } from '../support/mail-server.js';
import { testToml } from '../support/toml.js';

let model: FakeModel;
let server: MailServer;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  server = await startMailServer();
  engine = await startEngine(testToml({
    modelUrl: model.url,
    more: `[agents.writer]\ninstructions = "You write."\nmodel = "default"\neffects = ["mail"]\n[effects.mail]\ntype = "smtp"\nhost = "127.0.0.1"\nport = ${server.port}\nsecurity = "none"\nfrom = "Bookings <bookings@example.com>"\ntimeout = "3s"\n`,
  }));
});

afterAll(async () => {
  await engine?.close();
  await server?.stop();
  await model?.close();
});

it('D13, D16, D20, D36: a worker killed after a mail was taken leaves it unknown; one mail, and a person decides', async () => {
  model.script([{ calls: [{ name: 'mail', args: { to: 'kim@example.com', subject: 'Reserved', text: 'Your table is reserved.' } }] }, { text: 'done' }]);
  const worker = await engine.worker({ at: 'after_effect', signal: 'SIGKILL' });
  const { turnId } = await engine.client.submit({ agent: 'writer', text: 'write', as: 'tester' });
  await worker.exited;
  await engine.worker();
  const waiting = await engine.until(turnId, 'waiting_unknown');
  const key = waiting.effects[0]!.key;
  expect(server.received.map(({ raw }) => raw.includes(`Message-ID: <${key}@example.com>`))).toEqual([true]);
  const entry = await engine.client.ledgerEntry(key);
  expect(entry).toMatchObject({ state: 'unknown', attempts: [{ outcome: 'uncertain' }] });
  await engine.client.settle(key, { version: entry.version, outcome: 'succeeded', externalId: `<${key}@example.com>`, reason: 'it is in the mailbox', as: 'op' });
  expect(await engine.until(turnId, 'completed')).toMatchObject({ text: 'done', effects: [{ state: 'reconciled', outcome: 'succeeded' }] });
  expect(server.received).toHaveLength(1);
  expect(model.violations).toEqual([]);
});
