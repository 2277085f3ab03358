import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkTemporal } from './version.js';

/** Folder of cached programs, outside any checkout: HOLDFAST_CACHE_DIR, else holdfast/ in XDG_CACHE_HOME or ~/.cache. Empty counts as unset. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const base = resolve(env['HOLDFAST_CACHE_DIR'] || join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'holdfast'));
  return join(base, 'bin');
}

/** Newest cached Temporal that runs; null when there is none. */
export async function cachedTemporal(folder: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const names = await readdir(folder).catch(() => []);
  const found = names.filter((name) => /^temporal-\d+\.\d+\.\d+$/.test(name));
  found.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  for (const name of found) {
    const binary = join(folder, name);
    const works = await checkTemporal(binary, env).then(() => true, () => false);
    if (works) return binary;
  }
  return null;
}

/**
 * Gives `produce` a scratch folder in which it makes a program, checks that it runs, and puts it into the cache by one rename, so that
 * two processes doing this at once end with one whole file. `produce` returns the program's path and the version to file it under.
 */
export async function intoCache(
  folder: string,
  env: NodeJS.ProcessEnv,
  produce: (scratch: string) => Promise<{ binary: string; version: string | null }>,
): Promise<string> {
  const scratch = join(folder, `new-${randomBytes(6).toString('hex')}`);
  await mkdir(scratch, { recursive: true });
  try {
    const { binary, version } = await produce(scratch);
    await chmod(binary, 0o755);
    const { cli } = await checkTemporal(binary, env);
    const target = join(folder, `temporal-${version ?? cli}`);
    await rename(binary, target);
    return target;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
