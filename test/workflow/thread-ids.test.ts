import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowIdOf } from '../../domain/keys.js';
import { sha256Hex } from '../../store/hash.js';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { said } from '../support/plays.js';
import { lastUser } from '../support/thread.js';
import { testToml } from '../support/toml.js';

const LONG = '방'.repeat(499);

/** Names that a careless encoding confuses with one another. */
const GROUPS: Record<string, string[]> = {
  'a slash': ['a/b', 'a%2Fb', 'a%252Fb', 'a%2fb', 'a//b', '/a/b', 'a\\b'],
  'a space': ['a b', 'a%20b', 'a+b', ' a b', 'a b ', 'a\tb', 'a\nb'],
  'case and plain signs': ['A', 'a', 'a.', '.', '..', '%', '%%', '%E0%A4', "'", '"; drop table turn; --', 'a?b#c'],
  'a prefix of ours': ['holdfast/main/a', 'main/a', 'reconcile/all', 'a~', '%7E', `%7E${sha256Hex(`${LONG}1`)}`],
  'other scripts': ['안녕', '안녕'.normalize('NFD'), 'é', 'é'.normalize('NFD'), '👨‍👩‍👧', '👨👩👧', '\u202Ea', '\uFEFFa'],
  'its length': [`${LONG}1`, `${LONG}2`, 'x'.repeat(186), 'x'.repeat(187), 'x'.repeat(500), `${'x'.repeat(499)}y`],
};
const ALL = Object.values(GROUPS).flat();

let model: FakeModel;
let engine: Engine;

beforeAll(async () => {
  model = await startFakeModel();
  model.script((request) => ({ text: `re ${lastUser(request)}` }));
  engine = await startEngine(testToml({ modelUrl: model.url }));
  await engine.worker();
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
});

const mark = (thread: string) => sha256Hex(thread).slice(0, 16);

describe('thread ids', () => {
  it('I11: each has a workflow id of its own, of at most 200 bytes of plain ASCII, percent-encoded or, above that, hashed', () => {
    const ids = ALL.map((thread) => workflowIdOf('main', thread, sha256Hex));
    expect(new Set(ALL).size).toBe(ALL.length);
    expect(new Set(ids).size).toBe(ALL.length);
    for (const [index, id] of ids.entries()) {
      expect(id).toMatch(/^holdfast\/main\/[\x21-\x7E]+$/);
      expect(Buffer.byteLength(id)).toBeLessThanOrEqual(200);
      const part = id.slice('holdfast/main/'.length);
      expect(part).not.toContain('/');
      if (part.startsWith('~')) expect(`holdfast/main/${encodeURIComponent(ALL[index]!)}`.length).toBeGreaterThan(200);
      else expect(decodeURIComponent(part)).toBe(ALL[index]);
    }
    expect(ids.filter((id) => id.includes('/~'))).toHaveLength(5);
    expect(workflowIdOf('main', 'x'.repeat(186), sha256Hex)).toHaveLength(200);
  });

  it.each(Object.entries(GROUPS))('I11, D1: ids that differ only in %s are conversations that know nothing of each other', async (_what, threads) => {
    await Promise.all(threads.map(async (thread) => {
      const text = (n: number) => `${n} ${mark(thread)}`;
      const first = await engine.send(text(1), { thread, requestId: 'r1' });
      const second = await engine.send(text(2), { thread, requestId: 'r2' });
      for (const turn of [first, second]) expect(turn).toMatchObject({ status: 'completed', threadId: thread, workflowId: workflowIdOf('main', thread, sha256Hex) });
      const request = model.requests.find(({ body }) => lastUser(body) === text(2));
      expect([said(request, 'user'), said(request, 'assistant')]).toEqual([[text(1), text(2)], [`re ${text(1)}`]]);
      expect((await engine.client.turns({ thread })).map(({ turnId }) => turnId).sort()).toEqual([first.turnId, second.turnId].sort());
    }));
    expect(model.violations).toEqual([]);
  });

  it('I11: an operator finds the agent and the thread of a hashed id in the memo of its run', async () => {
    const thread = `${LONG}memo`.slice(-500);
    const { workflowId } = await engine.send(`1 ${mark(thread)}`, { thread });
    expect(workflowId).toContain('/~');
    expect((await engine.temporal.workflow.getHandle(workflowId).describe()).memo).toMatchObject({ agent: 'main', threadId: thread });
    expect(model.violations).toEqual([]);
  });

  it.each([['empty', ''], ['longer than 500', 'x'.repeat(501)], ['with NUL', 'a\0b'], ['with half a character', 'a\ud83d'], ['of Holdfast itself', '~undo 1 t.1.0']])('I11, D2: one that is %s is refused by name and starts nothing', async (_what, threadId) => {
    const before = (await engine.client.turns({})).length;
    await expect(engine.client.submit({ agent: 'main', threadId, text: 'hi', as: 'tester' })).rejects.toMatchObject({ code: 'invalid_input' });
    expect((await engine.client.turns({})).length).toBe(before);
  });
});
