import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StackError } from '../errors.js';

const run = promisify(execFile);

export interface Owner {
  uid: number;
  gid: number;
}

/**
 * The account that PostgreSQL runs as: null is our own. PostgreSQL refuses to run as root, so root lends it the account `postgres`,
 * or `nobody` where there is none; nothing is added to the machine. A folder that is there keeps its owner.
 */
export async function postgresOwner(dataFolder: string | null): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const there = dataFolder === null ? null : await stat(dataFolder).catch(() => null);
  if (there !== null && there.uid !== 0) return { uid: there.uid, gid: there.gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all([numberFrom('-u', name), numberFrom('-g', name)]).catch(() => null);
    if (ids !== null && ids[0] !== 0) return { uid: ids[0], gid: ids[1] };
  }
  throw new StackError(
    'PostgreSQL does not run as root, and this machine has neither an account "postgres" nor "nobody". Run as another user, or set POSTGRES_ORCH_DSN.',
  );
}

async function numberFrom(flag: string, name: string): Promise<number> {
  const { stdout } = await run('id', [flag, name]);
  return Number(stdout.trim());
}

/** Whether `owner` may enter every folder down to and including `path`; all may when it is our own account. */
export async function canReach(path: string, owner: Owner | null): Promise<boolean> {
  if (owner === null) return true;
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const { uid, gid, mode } = await stat(folder);
    const search = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
    if ((mode & search) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
