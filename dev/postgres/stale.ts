import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StackError } from '../errors.js';
import { isAlive } from '../alive.js';

const WAIT_MS = 12_000;
const EVERY_MS = 100;

/**
 * Makes sure that nobody else runs on the cluster. A server whose parent was killed is just being stopped by its reaper: wait for it.
 * A postmaster.pid whose process is gone, or is another program by now, is removed. Throws `StackError` when a server stays.
 */
export async function clearStalePid(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const pid = await pidIn(file);
    if (pid === null) return;
    if (!isAlive(pid) || !(await looksLikePostgres(pid))) return rm(file, { force: true });
    if (Date.now() > until) {
      throw new StackError(`A PostgreSQL server (process ${pid}) still runs on ${data}. Stop it with "kill -INT ${pid}", then start again.`);
    }
    await delay(EVERY_MS);
  }
}

async function pidIn(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(text.split('\n')[0] ?? '', 10);
  return pid > 0 ? pid : null;
}

/** Where processes cannot be inspected the answer is the careful one. */
async function looksLikePostgres(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres');
  return command.includes('postgres');
}
