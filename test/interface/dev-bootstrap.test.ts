import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../support/wait.js';

/** A checkout with the real bootstrap scripts; npm, compiler, bundler, command line and vitest are stand-ins that leave a line in `calls`. */
let folder: string;
const put = async (path: string, text: string) => {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
};
const call = (name: string) => `require('node:fs').appendFileSync('calls', '${name} ' + process.argv.slice(2).join(' ') + '\\n');`;
const calls = async () => (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  await cp('dev/bootstrap.mjs', join(folder, 'dev/bootstrap.mjs'));
  await cp('dev/bootstrap', join(folder, 'dev/bootstrap'), { recursive: true });
  await put('package.json', '{ "engines": { "node": ">=20.3.0" } }');
  await put('package-lock.json', '{}');
  await put('tsconfig.json', '{ "include": ["store"] }');
  await put('store/migrations/0001_core.sql', 'select 1;');
  await put('dist/worker/bundle.js', call('bundle'));
  await put('dist/cli/main.js', `${call('cli')} process.exitCode = 4;`);
  await put('modules/typescript/package.json', '{}');
  await put('modules/typescript/bin/tsc', call('tsc'));
  await put('modules/vitest/vitest.mjs', `
    import { appendFileSync, writeFileSync } from 'node:fs';
    const out = process.argv.find((arg) => arg.startsWith('--outputFile.json='))?.split('=')[1];
    appendFileSync('calls', 'vitest ' + process.argv.slice(2).filter((arg) => !arg.startsWith('--outputFile')).join(' ') + '\\n');
    if (process.env.REPORT && out) writeFileSync(out, process.env.REPORT);
    process.exitCode = Number(process.env.VITEST_EXIT ?? 0);`);
  await put('npm-cli.js', `${call('npm')} require('node:fs').cpSync('modules', 'node_modules', { recursive: true });`);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function start(args: string[], env: Record<string, string>) {
  const { CI: _ci, ...outer } = process.env;
  return spawn(process.execPath, ['dev/bootstrap.mjs', ...args], {
    cwd: folder, env: { ...outer, npm_execpath: join(folder, 'npm-cli.js'), ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(args: string[], env: Record<string, string> = {}) {
  const child = start(args, env);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, err, last: out.trimEnd().split('\n').at(-1) };
}

const report = (...files: { status: string; tests: string[] }[]) =>
  JSON.stringify({ testResults: files.map(({ status, tests }) => ({ status, assertionResults: tests.map((state, index) => ({ status: state, fullName: `test ${index}` })) })) });

describe('npm start', () => {
  it('I1: installs, builds and starts on a fresh clone, hands its arguments on and ends with the exit code', async () => {
    const { code, err } = await run(['start', '--once']);
    expect(code).toBe(4);
    expect((await calls()).map((line) => line.trim())).toEqual([
      'npm ci --include=dev --include=optional --no-audit --no-fund', 'tsc -p tsconfig.json', 'bundle', 'cli dev --demo --once',
    ]);
    expect(err).toContain('npm ci');
    expect(await readFile(join(folder, 'dist/store/migrations/0001_core.sql'), 'utf8')).toBe('select 1;');
  });

  it('I1: skips what is there, and does again what has changed', async () => {
    await run(['build']);
    await rm(join(folder, 'calls'));
    await run(['build']);
    expect(await calls()).toEqual([]);
    await put('store/pool.ts', 'export {};');
    await run(['build']);
    expect(await calls()).toEqual(['tsc -p tsconfig.json', 'bundle ']);
    await rm(join(folder, 'calls'));
    await put('package-lock.json', '{ "changed": true }');
    await run(['build']);
    expect((await calls())[0]).toMatch(/^npm ci/);
  });

  it('I1: a Node that is too old is one clear error', async () => {
    await put('package.json', '{ "engines": { "node": ">=99.0.0" } }');
    const { code, err } = await run(['start']);
    expect(code).toBe(2);
    expect(err).toContain(`Node 99.0.0 or newer is needed, this is ${process.versions.node}`);
    expect(await calls()).toEqual([]);
  });

  it('I1: hands SIGTERM on and waits for an orderly end', async () => {
    await put('dist/cli/main.js', `process.on('SIGTERM', () => { ${call('terminated')} process.exit(0); }); ${call('up')} setInterval(() => undefined, 1000);`);
    const child = start(['start'], {});
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await waitFor(async () => (await calls()).some((line) => line.startsWith('up')), { what: 'the command line' });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect((await calls()).at(-1)).toMatch(/^terminated/);
  });
});

describe('npm test', () => {
  const failedFile = { status: 'failed', tests: [] };
  it.each([
    ['all passed', report({ status: 'passed', tests: ['passed', 'passed'] }), {}, '2 passed, 0 failed', 0],
    ['some failed', report({ status: 'failed', tests: ['passed', 'failed'] }), { VITEST_EXIT: '1' }, '1 passed, 1 failed', 1],
    ['a file that could not be loaded', report({ status: 'passed', tests: ['passed'] }, failedFile), { VITEST_EXIT: '1' }, '1 passed, 1 failed', 1],
    ['an error outside of the tests', report({ status: 'passed', tests: ['passed'] }), { VITEST_EXIT: '1' }, '1 passed, 1 failed', 1],
    ['no test', report(), {}, '0 passed, 1 failed', 1],
    ['no report', '', {}, '0 passed, 1 failed', 1],
    ['a skip', report({ status: 'passed', tests: ['passed', 'skipped'] }), {}, '1 passed, 0 failed, 1 skipped', 0],
    ['a skip in CI', report({ status: 'passed', tests: ['passed', 'skipped'] }), { CI: '1' }, '1 passed, 0 failed, 1 skipped', 1],
  ])('I2: %s ends with the plain line and the right exit code', async (_title, text, env: Record<string, string>, line, exit) => {
    const { code, last } = await run(['test'], { REPORT: text, ...env });
    expect(last).toBe(line);
    expect(code).toBe(exit);
  });

  it('I2: a build that fails ends with the plain line, too', async () => {
    await put('modules/typescript/bin/tsc', 'process.exit(2)');
    expect(await run(['test'])).toMatchObject({ code: 1, last: '0 passed, 1 failed' });
  });
});

describe('npm run test:chaos', () => {
  const doc = 'before\n<!-- last run -->\nold\n<!-- end of last run -->\nafter\n';
  beforeEach(async () => {
    await put('docs/guarantees.md', doc);
    await put('reports/chaos.md', 'Run of today: $& costs $1.\n');
  });

  it('D36: runs the matrix with the arguments of vitest, and leaves the documentation alone', async () => {
    expect((await run(['chaos', '-t', 'killed'])).code).toBe(0);
    expect((await calls()).at(-1)).toBe('vitest run --config test/chaos/matrix/matrix.config.ts -t killed');
    expect(await readFile(join(folder, 'docs/guarantees.md'), 'utf8')).toBe(doc);
  });

  it('D36: a full run that is right puts its table into the documentation when it is asked to, a wrong one does not', async () => {
    expect((await run(['chaos', '--write-docs'], { VITEST_EXIT: '1' })).code).toBe(1);
    expect(await readFile(join(folder, 'docs/guarantees.md'), 'utf8')).toBe(doc);
    expect((await run(['chaos', '--write-docs'])).code).toBe(0);
    expect(await readFile(join(folder, 'docs/guarantees.md'), 'utf8')).toBe(doc.replace('old', () => 'Run of today: $& costs $1.'));
    expect(await run(['chaos', '--write-docs', '-t', 'killed'])).toMatchObject({ code: 2, err: expect.stringContaining('full run') as string });
  });
});
