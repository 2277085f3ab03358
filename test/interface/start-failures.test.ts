import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../support/database.js';
import { uniqueName } from '../support/names.js';
import { freePort } from '../support/wait.js';
import { nothingLeft, startCli } from './cli-process.js';

const MODEL = '[models.default]\nprovider = "offline"\n';
const GOOD = `${MODEL}[agents.main]\ninstructions = "x"\n`;
const SECRET = 's3cret-hush';

let root: string;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let taken: Server;
const servers: Record<string, string> = {};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-start-'));
  database = await freshDatabase();
  taken = createServer().listen(0, '127.0.0.1');
  Object.assign(servers, { TEMPORAL_ADDRESS: inject('temporalAddress'), POSTGRES_ORCH_DSN: database.dsn, HOLDFAST_API_PORT: '0' });
});

afterAll(async () => {
  taken?.close();
  await database?.drop();
  await rm(root, { recursive: true, force: true });
});

interface Fault {
  toml?: string | null;
  env?: Record<string, string>;
  /** What the message names. */
  says: string[];
}

/** Runs a command in a folder of its own until it ends by itself; nothing of it is left then. */
async function run(args: string[], { toml = GOOD, env = {} }: Pick<Fault, 'toml' | 'env'>): Promise<{ code: number | null; stdout: string; stderr: string; cwd: string }> {
  const cwd = join(root, uniqueName('run'));
  await mkdir(cwd);
  if (toml !== null) await writeFile(join(cwd, 'holdfast.toml'), toml);
  const cli = startCli(args, { cwd, env: { ...servers, ...env } });
  const { code } = await cli.ended;
  await nothingLeft(cwd);
  return { code, stdout: cli.stdout(), stderr: cli.stderr(), cwd };
}

/** One clear message: what is wrong and what to do, no stack trace, no secret. */
function expectClear(stderr: string, says: string[]): void {
  for (const text of says) expect(stderr).toContain(text);
  expect(stderr.match(/^error: /gm)).toHaveLength(1);
  expect(stderr).not.toMatch(/^\s+at |node:internal|UnhandledPromise|\[object/m);
  expect(stderr).not.toContain(SECRET);
}

const WRONG_FILES: Record<string, Fault> = {
  'a wrong type': { toml: `${GOOD}max_steps = "many"\n`, says: ['holdfast.toml', 'agents.main.max_steps', 'many'] },
  'an unknown key': { toml: `${GOOD}max_stepz = 3\n`, says: ['holdfast.toml', 'max_stepz', 'max_steps'] },
  'broken TOML': { toml: '[agents.main\ninstructions = ', says: ['holdfast.toml'] },
  'a missing file': { toml: null, says: ['holdfast.toml'] },
  'an agent that does not exist': { toml: `[app]\ndefault_agent = "mian"\n${GOOD}`, says: ['default_agent', 'mian', 'main'] },
};
const NEEDS_KEY = '[models.default]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\napi_key_env = "MY_KEY"\n[agents.main]\ninstructions = "x"\n';
const MISSING_SECRET: Fault = { toml: NEEDS_KEY, says: ['holdfast.toml', 'models.default.api_key_env', 'MY_KEY'] };
const WRONG_SETTINGS: Record<string, Fault> = {
  'a port that is no number': { env: { HOLDFAST_API_PORT: 'http' }, says: ['HOLDFAST_API_PORT', 'must be a number'] },
  'a DSN that is none': { env: { POSTGRES_ORCH_DSN: `me:${SECRET}@db` }, says: ['POSTGRES_ORCH_DSN', 'postgres://'] },
  'a Temporal address that is a URL': { env: { TEMPORAL_ADDRESS: 'http://127.0.0.1:7233' }, says: ['TEMPORAL_ADDRESS', 'host:port'] },
  'a log level that is none': { env: { HOLDFAST_LOG_LEVEL: 'loud' }, says: ['HOLDFAST_LOG_LEVEL', 'debug'] },
};

const READERS = [['worker'], ['dev', '--demo']];
const ALL_READERS = [...READERS, ['config', 'check'], ['send', 'hi']];
const ALL = [['worker'], ['api'], ['dev'], ['config', 'check'], ['send', 'hi'], ['migrate'], ['doctor']];

describe('I5: a configuration that cannot be used ends with 2 and one message that names file and key', () => {
  it.each(Object.entries(WRONG_FILES))('%s → every command that reads the file says so and leaves nothing', async (name, fault) => {
    await Promise.all((name === 'a wrong type' ? ALL_READERS : READERS).map(async (args) => {
      const { code, stdout, stderr } = await run(args, fault);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expectClear(stderr, fault.says);
    }));
    const doctor = await run(['doctor'], fault);
    expect(doctor.code).toBe(2);
    for (const text of fault.says) expect(doctor.stdout).toContain(text);
  });

  it.each([['worker'], ['dev']])('a secret whose variable is not set → %s names file, key and variable and starts no server', async (command) => {
    const { code, stderr, cwd } = await run([command], MISSING_SECRET);
    expect(code).toBe(2);
    expectClear(stderr, MISSING_SECRET.says);
    expect(await readdir(cwd)).toEqual(['holdfast.toml']);
  });

  it('a secret whose variable is not set → doctor tells it, config check shows it as missing', async () => {
    const doctor = await run(['doctor'], MISSING_SECRET);
    expect({ code: doctor.code, told: doctor.stdout.includes('MY_KEY is not set') }).toEqual({ code: 2, told: true });
    const check = await run(['config', 'check', '--json'], MISSING_SECRET);
    expect({ code: check.code, ...(JSON.parse(check.stdout) as object) }).toMatchObject({ code: 0, secrets: { MY_KEY: 'missing' } });
  });

  it.each(Object.entries(WRONG_SETTINGS))('I5, I7: %s in the environment → every command says so before it starts anything', async (_, fault) => {
    await Promise.all(ALL.map(async (args) => {
      const { code, stdout, stderr, cwd } = await run(args, fault);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expectClear(stderr, fault.says);
      expect(await readdir(cwd)).toEqual(['holdfast.toml']);
    }));
  });
});

describe('I3: a server that cannot be used ends with 3, one message, its address and the way out', () => {
  const postgres = [['worker'], ['api'], ['dev'], ['send', 'hi'], ['migrate']];

  it('PostgreSQL does not listen → each command names it, never the password', async () => {
    const host = `127.0.0.1:${await freePort()}`;
    await Promise.all(postgres.map(async (args) => {
      const { code, stderr } = await run(args, { env: { POSTGRES_ORCH_DSN: `postgresql://me:${SECRET}@${host}/app` } });
      expect({ args, code }).toEqual({ args, code: 3 });
      expectClear(stderr, [host, 'POSTGRES_ORCH_DSN']);
    }));
  });

  it('PostgreSQL refuses the password, or has no such database → each command says so, never the password', async () => {
    const wrong = new URL(database.dsn);
    wrong.password = SECRET;
    const absent = new URL(database.dsn);
    absent.pathname = '/not_there';
    await Promise.all([wrong, absent].flatMap(({ href, host }) => postgres.map(async (args) => {
      const { code, stderr } = await run(args, { env: { POSTGRES_ORCH_DSN: href } });
      expect({ args, code }).toEqual({ args, code: 3 });
      expectClear(stderr, [host, 'POSTGRES_ORCH_DSN']);
      expect(stderr).not.toContain(new URL(database.dsn).password);
    })));
  });

  it('PostgreSQL takes the connection and never answers → each command gives up', async () => {
    const host = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    await Promise.all(postgres.map(async (args) => {
      const { code, stderr } = await run(args, { env: { POSTGRES_ORCH_DSN: `postgresql://me:${SECRET}@${host}/app` } });
      expect({ args, code }).toEqual({ args, code: 3 });
      expectClear(stderr, [host, 'POSTGRES_ORCH_DSN']);
    }));
  });

  it('Temporal is away, or never answers → worker, dev and send name it', async () => {
    for (const address of [`127.0.0.1:${await freePort()}`, `127.0.0.1:${(taken.address() as AddressInfo).port}`]) {
      await Promise.all([['worker'], ['dev'], ['send', 'hi']].map(async (args) => {
        const { code, stderr } = await run(args, { env: { TEMPORAL_ADDRESS: address } });
        expect({ args, code }).toEqual({ args, code: 3 });
        expectClear(stderr, [`Temporal at ${address}`, 'TEMPORAL_ADDRESS']);
      }));
    }
  });
});

describe('I3, I7: what a person can correct on a server ends with 2', () => {
  it('Temporal has no such namespace → worker, dev, send and doctor name it and say how to make it', async () => {
    for (const args of [['worker'], ['dev'], ['send', 'hi'], ['doctor']]) {
      const { code, stdout, stderr } = await run(args, { env: { TEMPORAL_NAMESPACE: 'nowhere' } });
      expect({ args, code }).toEqual({ args, code: 2 });
      if (args[0] === 'doctor') expect(stdout).toMatch(/"nowhere" does not exist\n.*namespace create nowhere/);
      else expectClear(stderr, ['no namespace "nowhere"', 'TEMPORAL_NAMESPACE']);
    }
  });

  it('PostgreSQL does not have our schema → worker, api and send say "holdfast migrate"', async () => {
    await Promise.all([['worker'], ['api'], ['send', 'hi']].map(async (args) => {
      const { code, stderr } = await run(args, { env: { POSTGRES_ORCH_DSN: inject('postgresDsn') } });
      expect({ args, code }).toEqual({ args, code: 2 });
      expectClear(stderr, ['holdfast migrate']);
    }));
  });

  it('the port of the API was asked for and is taken → api and dev name it and the variable', async () => {
    const port = String((taken.address() as AddressInfo).port);
    for (const args of [['api'], ['dev', '--no-worker']]) {
      const { code, stderr, cwd } = await run(args, { env: { HOLDFAST_API_PORT: port } });
      expect({ args, code }).toEqual({ args, code: 2 });
      expectClear(stderr, [`127.0.0.1:${port} is already in use`, 'HOLDFAST_API_PORT']);
      expect(await readdir(join(cwd, '.holdfast')).catch(() => [])).toEqual([]);
    }
  });

  it('I1, I3: the state folder cannot be written → dev names it and the option, with and without the demo', async () => {
    for (const args of [['dev'], ['dev', '--demo']]) {
      const { code, stderr } = await run([...args, '--state-dir', 'holdfast.toml/state'], {});
      expect({ args, code }).toEqual({ args, code: 2 });
      expectClear(stderr, ['holdfast.toml/state cannot be written (ENOTDIR)', '--state-dir']);
    }
  });
});
