import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { isAlive } from '../../dev/alive.js';
import { startPostgres } from '../../dev/postgres.js';
import { startStack, type StackOptions } from '../../dev/stack.js';
import { createPool } from '../../store/pool.js';
import { freePort, waitFor } from '../support/wait.js';

let folder: string;
let lines: string[];
const options = (more: Partial<StackOptions> = {}): StackOptions => ({
  stateDir: join(folder, '.holdfast'), env: { TEMPORAL_ADDRESS: inject('temporalAddress') }, log: (line) => lines.push(line), memory: 'postgres', ...more,
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  // Others may look in, as in an ordinary checkout: PostgreSQL has an account of its own when we are root.
  await chmod(folder, 0o755);
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function query(dsn: string, sql: string): Promise<Record<string, unknown>[]> {
  const pool = createPool({ dsn, max: 1 });
  return pool.query<Record<string, unknown>>(sql).then(({ rows }) => rows).finally(() => pool.end());
}

describe('a stack', () => {
  it('I3: works in a folder that only its owner may enter, also for root', async () => {
    await chmod(folder, 0o700);
    const first = await startStack(options());
    await query(first.dsn, 'create table public.kept (n int)');
    await first.stop();
    const place = await realpath(join(folder, '.holdfast', 'postgres'));
    const second = await startStack(options());
    try {
      expect(await query(second.dsn, 'select n from public.kept')).toEqual([]);
    } finally {
      await second.stop();
      await rm(place, { recursive: true });
    }
  });

  it('I3: keeps its PostgreSQL data over a restart and its password to itself', async () => {
    const first = await startStack(options());
    await query(first.dsn, 'create table public.kept (n int); insert into public.kept values (7)');
    await first.stop();
    const second = await startStack(options());
    try {
      expect(await query(second.dsn, 'select n from public.kept')).toEqual([{ n: 7 }]);
      expect((await stat(join(folder, '.holdfast', 'postgres', 'password'))).mode & 0o777).toBe(0o600);
      expect(lines.join('\n')).not.toContain(new URL(second.dsn).password);
    } finally {
      await second.stop();
    }
  });

  it('I3: starts again after a crash that left a postmaster.pid naming a process that is something else', async () => {
    const first = await startPostgres({ dataDir: join(folder, 'pg'), log: () => undefined });
    const pidFile = join(folder, 'pg', 'data', 'postmaster.pid');
    const text = await readFile(pidFile, 'utf8');
    await first.stop();
    await writeFile(pidFile, text.replace(/^\d+/, String(process.ppid)));
    const second = await startPostgres({ dataDir: join(folder, 'pg'), log: () => undefined });
    expect(await query(second.dsn, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  it('C1: in_memory is a throw-away PostgreSQL; the start-up line says so and nothing is left', async () => {
    const stack = await startStack(options({ memory: 'in_memory' }));
    const place = await query(stack.dsn, `select current_setting('data_directory') as dir`);
    await stack.stop();
    expect(lines.join('\n')).toContain('throw-away');
    await expect(stat(String(place[0]?.['dir']))).rejects.toThrow('ENOENT');
  });

  it('I3: a second stack on the same folder is refused, naming the first process', async () => {
    const stack = await startStack(options());
    try {
      await expect(startStack(options())).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(`kill ${process.pid}`) as string });
    } finally {
      await stack.stop();
    }
  });

  it('I3: when one server fails the other is stopped again and the folder is free', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    await expect(startStack(options({ env: { TEMPORAL_ADDRESS: address } }))).rejects.toMatchObject({
      exitCode: 3, message: expect.stringContaining(`Temporal at ${address} (TEMPORAL_ADDRESS)`) as string,
    });
    await expect(stat(join(folder, '.holdfast', 'postgres', 'data', 'postmaster.pid'))).rejects.toThrow('ENOENT');
    await expect(stat(join(folder, '.holdfast', 'dev.pid'))).rejects.toThrow('ENOENT');
  });
});

describe('a PostgreSQL that the environment names', () => {
  const env = (more: Record<string, string>) => ({ TEMPORAL_ADDRESS: inject('temporalAddress'), ...more });

  it('I3: is used and left alone', async () => {
    const stack = await startStack(options({ env: env({ POSTGRES_MEMORY_DSN: inject('postgresDsn') }) }));
    await stack.stop();
    expect(stack.dsn).toBe(inject('postgresDsn'));
    expect(await query(inject('postgresDsn'), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it.each([
    ['unreachable', 3, 'postgresql://me:s3cret@127.0.0.1:1/app', 'PostgreSQL at 127.0.0.1:1/app (POSTGRES_ORCH_DSN)'],
    ['no address', 2, 'me:s3cret', 'must look like postgresql://'],
  ])('I3: %s is one clear error without the password', async (_title, exitCode, dsn, message) => {
    const failure: unknown = await startStack(options({ env: env({ POSTGRES_ORCH_DSN: dsn }) })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ exitCode, message: expect.stringContaining(message) as string });
    expect(String(failure)).not.toContain('s3cret');
  });

  it('W15: two names for different databases are refused', async () => {
    const other = new URL(inject('postgresDsn'));
    other.pathname = '/other';
    await expect(startStack(options({ env: env({ POSTGRES_ORCH_DSN: inject('postgresDsn'), POSTGRES_MEMORY_DSN: other.href }) })))
      .rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('different databases') as string });
  });
});

describe('when we are killed', () => {
  it('I3: a server whose owner dies by SIGKILL ends too, and its scratch folder goes', async () => {
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    const reaper = join(folder, 'reaper.mjs');
    await writeFile(reaper, ts.transpile(await readFile('dev/reaper.ts', 'utf8'), { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }));
    const script = `
      import { spawn } from 'node:child_process';
      import { reapWithUs } from ${JSON.stringify(reaper)};
      const server = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
      reapWithUs(server.pid, 'TERM', ${JSON.stringify(scratch)});
      process.stdout.write(server.pid + '\\n');
      setInterval(() => undefined, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(await new Promise<string>((resolve) => owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')))));
    expect(isAlive(pid)).toBe(true);
    owner.kill('SIGKILL');
    await waitFor(() => readFile(`/proc/${pid}/stat`, 'utf8').then((line) => / Z /.test(line), () => true), { what: 'the end of the server' });
    await waitFor(() => stat(scratch).then(() => false, () => true), { what: 'the end of its scratch folder' });
  });
});
