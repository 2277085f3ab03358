import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from './alive.js';
import { StackError } from './errors.js';

/**
 * Claims the state folder for this process, so that two `holdfast dev` never share one. Returns the function that gives it back.
 * Throws `StackError` naming the process that holds it; a claim whose process is gone is taken over.
 */
export async function claimStateDir(stateDir: string): Promise<() => Promise<void>> {
  await makeStateDir(stateDir);
  const file = join(stateDir, 'dev.pid');
  while (!(await create(file))) {
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (pid > 0 && isAlive(pid)) {
      throw new StackError(`"holdfast dev" already runs on ${stateDir} (process ${pid}). Use it as it is, or stop it with "kill ${pid}" and start again.`, 2);
    }
    await rm(file, { force: true });
  }
  return () => rm(file, { force: true });
}

/** Makes the state folder. Throws `StackError` where that is not permitted. */
export async function makeStateDir(stateDir: string): Promise<void> {
  await mkdir(stateDir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(stateDir, error);
  });
}

function unwritable(path: string, { code, message }: NodeJS.ErrnoException): StackError {
  return new StackError(`${path} cannot be written (${code ?? message}). Choose a folder that you may write with --state-dir DIR.`, 2);
}

async function create(file: string): Promise<boolean> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw unwritable(file, error);
  });
  if (handle === null) return false;
  await handle.writeFile(String(process.pid));
  await handle.close();
  return true;
}
