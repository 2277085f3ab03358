import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HISTORIES } from '../replay/history.js';
import { holdfast } from './cli-run.js';

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'holdfast-history-'));
  const chat = await readFile(join(HISTORIES, 'chat.json'), 'utf8');
  await writeFile(join(cwd, 'good.json'), chat);
  await writeFile(join(cwd, 'changed.json'), chat.replace('{"name":"callModel"}', '{"name":"callNothing"}'));
  await writeFile(join(cwd, 'cut.json'), chat.slice(0, -100));
  await Promise.all(['folder', 'empty'].map((name) => mkdir(join(cwd, name))));
  await writeFile(join(cwd, 'folder', 'a.json'), chat);
  await writeFile(join(cwd, 'folder', 'b.json'), JSON.stringify((JSON.parse(chat) as { events: unknown }).events));
  await writeFile(join(cwd, 'folder', 'notes.txt'), 'not a history');
  await writeFile(join(cwd, 'other.json'), '{"hello":"world"}');
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

it('D34: "history check" of a history that this build replays → ok, exit 0', async () => {
  const { code, stdout } = await holdfast(['history', 'check', 'good.json'], { cwd });
  expect([code, stdout]).toEqual([0, 'ok       good.json\n']);
});

it('D34: of one that it does not replay, beside one that it does → both are told, the exit code is not 0', async () => {
  const { code, objects } = await holdfast(['--json', 'history', 'check', 'good.json', 'changed.json'], { cwd });
  expect(code).not.toBe(0);
  expect(objects().flat()).toEqual([
    { file: 'good.json', replays: true, problem: null }, { file: 'changed.json', replays: false, problem: expect.stringMatching(/nondeterminism/i) },
  ]);
});

it('D34: of a folder → one line for each of its files; the list of events alone, as the Temporal UI gives it, is read too', async () => {
  const { code, objects } = await holdfast(['--json', 'history', 'check', 'folder'], { cwd });
  expect([code, objects().flat()]).toEqual([0, ['folder/a.json', 'folder/b.json'].map((file) => ({ file, replays: true, problem: null }))]);
});

it.each(['cut.json', 'other.json', 'missing.json', 'empty'])('of %s, which is no history → exit 2, and the file is named', async (file) => {
  const { code, stderr } = await holdfast(['history', 'check', file], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(file);
});
