import { Client, Connection } from '@temporalio/client';
import { mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { isAlive } from '../../dev/alive.js';
import { cacheFolder } from '../../dev/temporal/cache.js';
import { findTemporal } from '../../dev/temporal/find.js';
import { startTemporal } from '../../dev/temporal/start.js';
import { freePort } from '../support/wait.js';

let folder: string;
let lines: string[];
const log = (line: string) => lines.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program that answers like the Temporal CLI of that server version. */
async function cli(path: string, server: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "temporal version 0.0.0-DEV (Server ${server}, UI 2.39.0)"\n`, { mode: 0o755 });
  return path;
}

async function search(more: { path?: string[] } = {}) {
  const path = [...(more.path ?? []), '/usr/bin', '/bin'].join(':');
  const downloadFrom = `http://127.0.0.1:${await freePort()}/cli/archive/latest`;
  return { env: { PATH: path, HOLDFAST_CACHE_DIR: join(folder, 'cache') }, log, downloadFrom };
}

describe('finding Temporal', () => {
  it.each([
    [{ HOME: '/home/kim' }, '/home/kim/.cache/holdfast/bin'],
    [{ HOME: '/home/kim', XDG_CACHE_HOME: '', HOLDFAST_CACHE_DIR: '' }, '/home/kim/.cache/holdfast/bin'],
    [{ HOME: '/home/kim', XDG_CACHE_HOME: '/cache' }, '/cache/holdfast/bin'],
    [{ HOME: '/home/kim', XDG_CACHE_HOME: '/cache', HOLDFAST_CACHE_DIR: '/mine' }, '/mine/bin'],
    [{ HOLDFAST_CACHE_DIR: 'mine' }, resolve('mine/bin')],
  ])('I3: with %j programs are cached in %s: an empty variable counts as unset, and the folder is absolute', (env, cached) => {
    expect(cacheFolder(env)).toBe(cached);
  });

  it('I3: one on PATH comes before a cached one', async () => {
    const onPath = await cli(join(folder, 'bin', 'temporal'), '1.28.0');
    await cli(join(folder, 'cache', 'bin', 'temporal-1.4.1'), '1.28.0');
    expect(await findTemporal(await search({ path: [join(folder, 'bin')] }))).toBe(onPath);
  });

  it('I3: one on PATH that is too old is passed over, and the reason is said', async () => {
    await cli(join(folder, 'bin', 'temporal'), '1.22.4');
    const cached = await cli(join(folder, 'cache', 'bin', 'temporal-1.4.1'), '1.28.0');
    expect(await findTemporal(await search({ path: [join(folder, 'bin')] }))).toBe(cached);
    expect(lines.join('\n')).toContain('Temporal server 1.22.4; 1.28 or newer is needed');
  });

  it('I3: the newest cached one that runs is taken', async () => {
    await cli(join(folder, 'cache', 'bin', 'temporal-1.4.1'), '1.28.0');
    const newer = await cli(join(folder, 'cache', 'bin', 'temporal-1.10.0'), '1.30.0');
    await writeFile(join(folder, 'cache', 'bin', 'temporal-1.11.0'), 'half a download', { mode: 0o755 });
    expect(await findTemporal(await search())).toBe(newer);
  });

  it('I3: the download is tried before Go builds one into the cache, which is then found again', async () => {
    const go = join(folder, 'bin', 'go');
    await mkdir(join(folder, 'bin'));
    const program = '#!/bin/sh\\necho "temporal version 0.0.0-DEV (Server 1.28.0)"\\n';
    await writeFile(go, `#!/bin/sh\n[ "$1" = install ] && printf '${program}' > "$GOBIN/temporal"\n`, { mode: 0o755 });
    const built = await findTemporal(await search({ path: [join(folder, 'bin')] }));
    expect(built).toBe(join(folder, 'cache', 'bin', 'temporal-1.4.1'));
    expect(lines.findIndex((line) => line.includes('downloading'))).toBeLessThan(lines.findIndex((line) => line.includes('building')));
    await rm(go);
    expect(await findTemporal(await search())).toBe(built);
    expect(await readdir(join(folder, 'cache', 'bin'))).toEqual(['temporal-1.4.1']);
  });

  it('I3: when nothing works, one error lists what was tried and what would fix it', async () => {
    const failure: unknown = await findTemporal(await search()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ exitCode: 3 });
    for (const part of ['on PATH: not found', 'a cached one', 'official download: fetch failed', 'no "go" on PATH', 'set TEMPORAL_ADDRESS', 'install Go']) {
      expect(String(failure)).toContain(part);
    }
  });
});

describe('running Temporal', () => {
  const start = (dataFile: string | null) =>
    startTemporal({ binary: inject('temporalBinary'), dataFile, namespace: 'team', env: process.env, log, ui: false });

  it('I3: keeps its runs over a restart, has the search attributes of I12, and ends when stopped', async () => {
    const first = await start(join(folder, 'temporal.db'));
    await withClient(first.address, (client) => client.workflow.start('nobody', { workflowId: 'kept', taskQueue: 'none' }));
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start(join(folder, 'temporal.db'));
    try {
      const status = await withClient(second.address, async (client) => {
        const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace: 'team' });
        expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(
          ['HoldfastAgent', 'HoldfastThread', 'HoldfastStatus', 'HoldfastPendingApprovals', 'HoldfastUnknownEffects'],
        ));
        return (await client.workflow.getHandle('kept').describe()).status.name;
      });
      expect(status).toBe('RUNNING');
    } finally {
      await second.stop();
    }
  });

  it('I3: a program that does not serve is one error with its last words', async () => {
    const binary = join(folder, 'temporal');
    await writeFile(binary, '#!/bin/sh\necho "disk is full" >&2\nexit 1\n', { mode: 0o755 });
    await expect(startTemporal({ binary, dataFile: null, namespace: 'default', env: process.env, log })).rejects.toThrow(/did not start: it ended.*\ndisk is full/);
  });
});

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  return use(new Client({ connection, namespace: 'team' })).finally(() => connection.close());
}
