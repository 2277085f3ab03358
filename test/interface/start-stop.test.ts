import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../support/database.js';
import { freshTaskQueue, uniqueName } from '../support/names.js';
import { freePort, waitFor } from '../support/wait.js';
import { leftovers, nothingLeft, startCli, type CliProcess } from './cli-process.js';

const API_PORT = 8088;

let root: string;
let database: Awaited<ReturnType<typeof freshDatabase>>;
const servers: Record<string, string> = {};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-stop-'));
  // PostgreSQL has an account of its own when we are root, and must be able to enter.
  await chmod(root, 0o755);
  database = await freshDatabase();
  Object.assign(servers, { TEMPORAL_ADDRESS: inject('temporalAddress'), POSTGRES_ORCH_DSN: database.dsn, HOLDFAST_API_PORT: '0', HOLDFAST_TASK_QUEUE: freshTaskQueue() });
});

afterAll(async () => {
  await database?.drop();
  await rm(root, { recursive: true, force: true });
});

async function begin(args: string[], env: Record<string, string> = servers): Promise<{ cli: CliProcess; cwd: string }> {
  const cwd = join(root, uniqueName('run'));
  await mkdir(cwd);
  await writeFile(join(cwd, 'holdfast.toml'), '[models.default]\nprovider = "offline"\n[agents.main]\ninstructions = "x"\n');
  return { cli: startCli(args, { cwd, env }), cwd };
}

async function endsWell({ cli, cwd }: { cli: CliProcess; cwd: string }): Promise<void> {
  expect(await cli.ended).toEqual({ code: 0, signal: null });
  await nothingLeft(cwd);
  expect(cli.stderr()).not.toMatch(/^\s+at |error|Unhandled/im);
}

/** A server that takes connections and never answers. */
async function silent(): Promise<{ server: Server; host: string; connected: Promise<unknown> }> {
  const server = createServer();
  const connected = new Promise((resolve) => { server.once('connection', resolve); });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, connected };
}

describe('Ctrl-C and SIGTERM', () => {
  it.each([['worker', 'worker ready'], ['api', 'api ready']])('I3: `%s` runs → both signals end it in order with 0, nothing is left', async (command, ready) => {
    await Promise.all((['SIGINT', 'SIGTERM'] as const).map(async (signal) => {
      const run = await begin([command]);
      await run.cli.says(ready);
      run.cli.signal(signal);
      await endsWell(run);
    }));
  });

  it.each([
    ['worker', 'PostgreSQL', (host: string) => ({ POSTGRES_ORCH_DSN: `postgresql://me:me@${host}/app` })],
    ['api', 'PostgreSQL', (host: string) => ({ POSTGRES_ORCH_DSN: `postgresql://me:me@${host}/app` })],
    ['worker', 'Temporal', (host: string) => ({ TEMPORAL_ADDRESS: host })],
  ])('I3: `%s` starts and waits for %s → the signal ends it with 0, nothing is left', async (command, _, env) => {
    const { server, host, connected } = await silent();
    try {
      const run = await begin([command], { ...servers, ...env(host) });
      await connected;
      run.cli.signal('SIGTERM');
      await endsWell(run);
    } finally {
      server.close();
    }
  });

  it.each([['PostgreSQL', 'postgres -D'], ['Temporal', 'server start-dev']])('I1, I3: %s of a running `dev` ends by itself → dev says so, ends with 3, nothing is left', async (name, args) => {
    const { cli, cwd } = await begin(['dev', '--no-api'], { HOLDFAST_API_PORT: '0' });
    await cli.says('stop with Ctrl-C');
    const server = (await leftovers(cwd)).find((line) => line.includes(args)) ?? expect.fail(`no process "${args}"`);
    process.kill(Number.parseInt(server, 10), 'SIGKILL');
    expect(await cli.ended).toEqual({ code: 3, signal: null });
    expect(cli.stderr()).toContain(`error: ${name} ended by itself (signal SIGKILL)`);
    await nothingLeft(cwd);
  });

  it('I3: `dev` is starting its own servers → it ends with 0, the servers are gone and the folder is free', async () => {
    await Promise.all((['SIGINT', 'SIGTERM'] as const).map(async (signal) => {
      const run = await begin(['dev'], { HOLDFAST_API_PORT: '0' });
      // It, and a server with the shell that watches it.
      await waitFor(async () => (await leftovers(run.cwd)).length >= 3, { what: 'the first server' });
      run.cli.signal(signal);
      await endsWell(run);
      expect((await readdir(join(run.cwd, '.holdfast'))).filter((name) => name.startsWith('dev.'))).toEqual([]);
    }));
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('I3: `dev --demo` serves with its own servers, then %s → it ends with 0, every server is gone and the folder is free', async (signal) => {
    const run = await begin(['dev', '--demo'], { HOLDFAST_API_PORT: '0' });
    await run.cli.says('stop with Ctrl-C');
    expect((await leftovers(run.cwd)).length).toBeGreaterThan(3);
    const { apiUrl } = JSON.parse(await readFile(join(run.cwd, '.holdfast', 'dev.json'), 'utf8')) as { apiUrl: string };
    expect((await fetch(`${apiUrl}/readyz`)).status).toBe(200);
    run.cli.signal(signal);
    await endsWell(run);
    expect((await readdir(join(run.cwd, '.holdfast'))).filter((name) => name.startsWith('dev.'))).toEqual([]);
  });
});

describe('dev that cannot start', () => {
  it.each([
    ['Temporal', async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` })],
    ['PostgreSQL', async () => ({ POSTGRES_ORCH_DSN: `postgresql://me:hush@127.0.0.1:${await freePort()}/app` })],
  ])('I3: the given %s is away → it ends with 3, and the other server, which it had started, is gone', async (name, away) => {
    const run = await begin(['dev'], { HOLDFAST_API_PORT: '0', ...(await away()) });
    expect(await run.cli.ended).toEqual({ code: 3, signal: null });
    await nothingLeft(run.cwd);
    expect(run.cli.stderr()).toMatch(new RegExp(`^error: ${name} at 127\\.0\\.0\\.1:\\d+`, 'm'));
    expect(run.cli.stderr()).not.toMatch(/hush|^\s+at /m);
    expect((await readdir(join(run.cwd, '.holdfast'))).filter((file) => file.startsWith('dev.'))).toEqual([]);
  });

  it('I3: another `dev` runs in the folder → it ends with 2, names that process and leaves it alone', async () => {
    const first = await begin(['dev', '--no-worker', '--no-api']);
    await first.cli.says('stop with Ctrl-C');
    const second = startCli(['dev', '--no-worker', '--no-api'], { cwd: first.cwd, env: servers });
    expect(await second.ended).toEqual({ code: 2, signal: null });
    expect(second.stderr()).toContain(`kill ${first.cli.pid}`);
    expect(await readFile(join(first.cwd, '.holdfast', 'dev.json'), 'utf8')).toContain(String(first.cli.pid));
    first.cli.signal('SIGTERM');
    await endsWell(first);
  });
});

it('I3: Temporal is away → `api` starts, answers what is stored and says that it is not ready', async () => {
  const run = await begin(['api', '--json'], { ...servers, TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
  await run.cli.says('"ready":true');
  const { url } = JSON.parse(run.cli.stdout()) as { url: string };
  const answers = await Promise.all(['/healthz', '/v1/approvals', '/readyz'].map(async (path) => (await fetch(`${url}${path}`)).status));
  expect(answers).toEqual([200, 200, 503]);
  run.cli.signal('SIGTERM');
  await endsWell(run);
});

it('I1: the default port of the API is taken and nobody asked for it → dev serves on a free one, says so, and the state file has it', async () => {
  // Taken by us, or by somebody else already.
  const holder = createServer();
  await new Promise<void>((resolve) => holder.once('error', () => resolve()).listen(API_PORT, '127.0.0.1', resolve));
  try {
    const { HOLDFAST_API_PORT: _, ...env } = servers;
    const run = await begin(['dev', '--no-worker'], env);
    await run.cli.says('stop with Ctrl-C');
    const { apiUrl } = JSON.parse(await readFile(join(run.cwd, '.holdfast', 'dev.json'), 'utf8')) as { apiUrl: string };
    expect(run.cli.stderr()).toContain(`API: port ${API_PORT} is taken, serving at ${apiUrl}`);
    expect((await fetch(`${apiUrl}/readyz`)).status).toBe(200);
    run.cli.signal('SIGTERM');
    await endsWell(run);
  } finally {
    holder.close();
  }
});
