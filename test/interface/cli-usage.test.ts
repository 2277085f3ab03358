import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/wait.js';
import { holdfast } from './cli-run.js';

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe('help', () => {
  test('document 5: every command is in the help text', async () => {
    const { code, stdout } = await holdfast(['--help'], { cwd });
    expect(code).toBe(0);
    for (const name of ['dev', 'worker', 'api', 'migrate', 'doctor', 'config', 'send', 'turn', 'approval', 'ledger', 'capabilities', 'history']) {
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    }
  });

  test.each([
    [['turn', '--help'], ['show', 'list', 'cancel', 'input']],
    [['approval', '--help'], ['list', 'show', 'approve', 'reject', 'edit']],
    [['ledger', '--help'], ['list', 'show', 'reconcile', 'settle']],
    [['send', '--help'], ['--agent', '--thread', '--request-id', '--steer', '--data', '--file', '--no-wait', '--timeout', 'Examples:']],
    [['dev', '--help'], ['--demo', '--once', '--no-worker', '--no-api', '--memory']],
  ])('document 5: %j names its parts', async (args, parts) => {
    const { code, stdout } = await holdfast(args, { cwd });
    expect(code).toBe(0);
    for (const part of parts) expect(stdout).toContain(part);
  });

  test('--version prints the version, and "ledger settle --version" is not taken for it', async () => {
    expect((await holdfast(['--version'], { cwd })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const settle = await holdfast(['ledger', 'settle', 'k', '--version', 'x', '--outcome', 'failed', '--reason', 'r'], { cwd });
    expect(settle).toMatchObject({ code: 2, stdout: '' });
    expect(settle.stderr).toContain('whole number');
  });
});

describe('a script that gets the usage wrong', () => {
  test.each([
    [['turn', 'list', '--stauts', 'odd', '--json'], /unknown option '--stauts' \(Did you mean --status\?\)/],
    [['--json', 'nonsense'], /unknown command 'nonsense'/],
    [['turn', '--json'], /A command is missing/],
    [['turn', 'list', '--json', '--limit', '0'], /from 1 to 500/],
    [['turn', 'list', '--json', '--limit', '501'], /from 1 to 500/],
  ])('document 5: %j → 2, and the problem as one object on stdout', async (args, message) => {
    const { code, objects, stderr } = await holdfast(args, { cwd });
    expect(code).toBe(2);
    expect(objects()).toEqual([{ error: { code: 'invalid_input', message: expect.stringMatching(message) as string } }]);
    expect(stderr).not.toBe('');
  });

  test('document 5: "--json" behind "--" is a text, not the option', async () => {
    expect(await holdfast(['turn', 'list', '--odd', '--', '--json'], { cwd })).toMatchObject({ code: 2, stdout: '' });
  });

  test('document 5: control characters in an argument do not reach the terminal', async () => {
    const { stderr } = await holdfast(['non\u001b[2Jsense'], { cwd });
    expect(stderr).toContain('non\uFFFD[2Jsense');
  });

  test('D14: numbers in --data that cannot be kept exactly are refused before anything is asked', async () => {
    await writeFile(join(cwd, 'data.json'), '{"order":{"n":9007199254740993}}');
    const { code, stderr } = await holdfast(['send', '--agent', 'a', '--data', 'data.json', 'hi'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('data.order.n: a whole number beyond 2^53');
  });
});

describe('beside a running dev', () => {
  const demo = { pid: process.pid, temporalAddress: '127.0.0.1:1', namespace: 'default', uiUrl: null, dsn: 'postgres://127.0.0.1:1/db', apiUrl: null, taskQueue: 'q' };
  const toml = '[models.default]\nprovider = "offline"\n[agents.a]\ninstructions = "x"\neffects = ["e"]\n[effects.e]\ntype = "http"\ndescription = "d"\n'
    + 'input_schema = { type = "object" }\nmethod = "POST"\nurl = "${BOOKING_URL:-http://127.0.0.1:9100}/reservations"\n';

  test.each([
    ['its booking server is the one of every command, a worker too', { bookingUrl: 'http://127.0.0.1:4711' }, {}, 'http://127.0.0.1:4711/reservations'],
    ['the environment goes first', { bookingUrl: 'http://127.0.0.1:4711' }, { BOOKING_URL: 'http://127.0.0.1:4712' }, 'http://127.0.0.1:4712/reservations'],
    ['without the demo the file stands', { bookingUrl: null }, {}, 'http://127.0.0.1:9100/reservations'],
    ['a state written by an older build is read', {}, {}, 'http://127.0.0.1:9100/reservations'],
  ])('I1, I5: %s', async (_title, state, env, url) => {
    const folder = await mkdtemp(join(cwd, 'dev-'));
    await mkdir(join(folder, '.holdfast'));
    await writeFile(join(folder, 'demo.toml'), toml);
    await writeFile(join(folder, '.holdfast', 'dev.json'), JSON.stringify({ ...demo, ...state, configFile: join(folder, 'demo.toml') }));
    const { code, stdout } = await holdfast(['config', 'check', '--json'], { cwd: folder, env });
    expect(code).toBe(0);
    expect(stdout).toContain(`"${url}"`);
  });
});

describe('wrong usage ends with 2 and says what is wrong', () => {
  test.each([
    [['nonsense'], 'unknown command'],
    [['send'], 'missing required argument'],
    [['send', 'a', 'b'], 'too many arguments'],
    [['send', 'hi', '--timeout', 'soon'], 'duration'],
    [['turn', 'list', '--status', 'odd'], 'Allowed choices'],
    [['approval', 'approve', 'apr'], '--hash'],
    [['approval', 'edit', 'apr', '--hash', 'h', '--args', '{"a":'], 'not valid JSON'],
    [['approval', 'edit', 'apr', '--hash', 'h', '--args', '{"amount":9007199254740993}'], '2^53'],
    [['ledger', 'settle', 'k', '--version', '1', '--outcome', 'maybe', '--reason', 'r'], 'Allowed choices'],
    [['dev', '--once'], '--demo'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await holdfast(args, { cwd });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
  });

  test('I5: a configuration that does not exist ends with 2 and names the file', async () => {
    const { code, stderr } = await holdfast(['config', 'check', '--config', 'none.toml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('none.toml');
  });

  test('I5: an unknown key ends with 2, with --json as an object too', async () => {
    await writeFile(join(cwd, 'odd.toml'), '[agents.a]\ninstructions = "x"\nmax_stepz = 3\n');
    const { code, stderr, objects } = await holdfast(['config', 'check', '--config', 'odd.toml', '--json'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('max_stepz');
    expect(objects()).toMatchObject([{ error: { code: 'configuration' } }]);
  });
});

describe('a server that cannot be reached ends with 3, its address and the way out', () => {
  const dead = async () => ({ POSTGRES_ORCH_DSN: `postgres://kim:hush@127.0.0.1:${await freePort()}/db`, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });

  test.each([['turn', 'list'], ['ledger', 'list'], ['approval', 'list'], ['capabilities'], ['migrate'], ['send', '--agent', 'a', 'hi']])('%s %s', async (...args) => {
    const env = await dead();
    const { code, stdout, stderr } = await holdfast(args, { cwd, env });
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(stderr).toContain(new URL(env.POSTGRES_ORCH_DSN).host);
    expect(stderr).toContain('holdfast dev');
    expect(stderr).not.toContain('hush');
  });

  test('doctor reports both servers, and the password of neither', async () => {
    await writeFile(join(cwd, 'ok.toml'), '[models.default]\nprovider = "offline"\n[agents.a]\ninstructions = "x"\n');
    const { code, objects, stdout } = await holdfast(['doctor', '--config', 'ok.toml', '--json'], { cwd, env: await dead() });
    expect(code).toBe(3);
    const problems = objects().filter((check) => (check as { ok: boolean }).ok === false);
    expect(problems.map((check) => (check as { name: string }).name)).toEqual(['postgresql', 'temporal']);
    expect(stdout).not.toContain('hush');
  });
});
