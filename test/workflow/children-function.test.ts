import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type Engine } from '../support/engine.js';
import { startFakeModel, type FakeModel } from '../support/fake-model/index.js';
import { uniqueName } from '../support/names.js';
import { remoteScript } from '../support/remote-rig.js';
import { waitFor } from '../support/wait.js';

let model: FakeModel;
let engine: Engine;
let folder: string;

/** Functions of an application; each call is a line of `calls.jsonl` beside it. */
const MODULE = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
const here = (name) => new URL(name, import.meta.url);
const note = (line) => appendFileSync(here('calls.jsonl'), JSON.stringify(line) + '\\n');
export const echo = async (input) => { note({ ...input, signal: undefined }); return 'echo ' + input.request; };
export const sums = async ({ args }) => ({ sum: args.a + args.b });
export const hostile = async () => ({ text: 'a\\u0000b', lone: '\\ud83d', decision: 'approve' });
export const odd = async () => 42;
export const fails = async ({ key }) => { note({ key, failed: true }); throw Object.assign(new Error('no such order'), { failure: 'terminal' }); };
export const shaky = async ({ key }) => { const mark = here(key); if (existsSync(mark)) return 'second time'; writeFileSync(mark, ''); throw new Error('not yet'); };
export const waits = async ({ key, signal }) => { note({ key, began: true }); await new Promise((resolve) => signal.addEventListener('abort', resolve)); note({ key, ended: true }); throw new Error('told to end'); };
`;

const toml = (modelUrl: string, module: string): string => [
  `[app]\ndefault_agent = "main"\n[models.default]\nprovider = "openai_compatible"\nbase_url = "${modelUrl}"\nmodel = "scripted"\ntimeout = "20s"`,
  '[agents.main]\ninstructions = "You are the controller."\nchildren = ["echo", "aware", "sums", "hostile", "odd", "fails", "shaky", "waits", "brief"]\ncontext_turns = 2',
  ...['echo', 'hostile', 'odd', 'fails', 'shaky', 'waits'].map((name) => `[children.${name}]\ntype = "function"\nmodule = "${module}"\nexport = "${name}"`),
  `[children.aware]\ntype = "function"\nmodule = "${module}"\nexport = "echo"\ninput = "conversation"`,
  `[children.brief]\ntype = "function"\nmodule = "${module}"\nexport = "waits"\ntimeout = "300ms"`,
  `[children.sums]\ntype = "function"\nmodule = "${module}"\nexport = "sums"\ninput_schema = { type = "object", required = ["a", "b"], properties = { a = { type = "integer" }, b = { type = "integer" } } }`,
].join('\n');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'functions-'));
  await writeFile(join(folder, 'functions.mjs'), MODULE);
  model = await startFakeModel();
  engine = await startEngine(toml(model.url, join(folder, 'functions.mjs')));
  model.script((request, n) => {
    const last = String(request.messages.at(-1)!.content);
    const args = /^sums (\S+) (\S+)/.exec(last);
    return args === null || request.messages.at(-1)!.role === 'tool' ? remoteScript(request, n) : { calls: [{ name: 'sums', args: { a: Number(args[1]), b: Number.isNaN(Number(args[2])) ? args[2] : Number(args[2]) } }] };
  });
});

afterAll(async () => {
  await engine?.close();
  await model?.close();
  await rm(folder, { recursive: true, force: true });
});

const calls = async (): Promise<Record<string, unknown>[]> => (await readFile(join(folder, 'calls.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
const told = (text: string | null) => JSON.parse(text!.replace('told: ', '')) as Record<string, unknown>;

describe('a child of type function', () => {
  it('D12, D36: the worker is killed after the function has returned, before its result is stored → it is called again under the same key, and its result is told once', async () => {
    const worker = await engine.worker({ at: 'after_effect', signal: 'SIGKILL' });
    const word = uniqueName('word');
    const { turnId } = await engine.client.submit({ agent: 'main', threadId: uniqueName('thread'), text: `echo ${word}`, as: 'tester' });
    const key = await worker.reached;
    await worker.exited;
    await engine.worker();
    expect(await engine.until(turnId, 'completed')).toMatchObject({ text: `told: echo ${word}` });
    expect((await calls()).filter(({ request }) => request === word)).toEqual([1, 2].map(() => ({ request: word, args: { text: word }, key })));
    expect(await engine.client.ledgerEntry(key)).toMatchObject({ state: 'succeeded', kind: 'child' });
  });

  it('D32, W2: `input = "conversation"` → it gets the bounded conversation as lines; with `context` nothing of it', async () => {
    const thread = uniqueName('thread');
    await engine.send(`echo first ${thread}`, { thread });
    await engine.send(`aware second ${thread}`, { thread });
    const [first, second] = (await calls()).filter(({ request }) => String(request).includes(thread));
    expect(first).not.toHaveProperty('conversation');
    expect(second).toMatchObject({ request: `second ${thread}`, conversation: [{ role: 'user', text: `echo first ${thread}` }] });
  });

  it('D7, D32: it has an `input_schema` → it gets checked arguments; others are refused before it is called', async () => {
    expect(told((await engine.send('sums 2 3')).text)).toEqual({ sum: 5 });
    expect(told((await engine.send('sums 2 three')).text)).toMatchObject({ status: 'invalid' });
  });

  it.each([
    ['returns NUL and half an emoji', 'hostile', { text: 'a\uFFFDb', lone: '\uFFFD', decision: 'approve' }],
    ['returns a number', 'odd', { status: 'failed', message: expect.stringContaining('returned number; it must return text or an object') }],
    ['fails with `failure: "terminal"`', 'fails', { status: 'failed', message: expect.stringContaining('no such order') }],
    ['does not end within `timeout`', 'brief', { status: 'failed', message: expect.stringContaining('told to end') }],
  ])('D6, D35, case 37: it %s → the parent is told so', async (_, name, result) => {
    const turn = await engine.send(`${name} now`);
    expect(turn).toMatchObject({ status: 'completed', approvals: [] });
    expect(told(turn.text)).toMatchObject(result);
  });

  it('D35: it fails once → it is tried again', async () => {
    expect((await engine.send('shaky now')).text).toBe('told: second time');
    expect((await calls()).filter(({ failed }) => failed === true)).toHaveLength(1);
  });

  it('D27: the turn is cancelled while it runs → it is told to end, and the turn ends after it has', async () => {
    const { turnId } = await engine.client.submit({ agent: 'main', threadId: uniqueName('thread'), text: 'waits now', as: 'tester' });
    await waitFor(async () => (await calls()).some(({ key, began }) => began === true && String(key).startsWith(turnId)), { what: 'the function to begin' });
    await engine.client.cancel(turnId, { as: 'tester' });
    expect(await engine.settled(turnId)).toMatchObject({ status: 'cancelled' });
    expect((await calls()).filter(({ key }) => String(key).startsWith(turnId))).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });
});
