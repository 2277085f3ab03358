import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StackError, reasonOf } from '../errors.js';
import type { Owner } from './owner.js';
import { exists } from './place.js';

const run = promisify(execFile);

/** A cluster on disk. `password` is that of the only account, `postgres`. */
export interface Cluster {
  data: string;
  password: string;
}

/**
 * The cluster in `home`, made first when it is not there: UTF-8, passwords required, a random one kept next to the data with mode 0600.
 * It is made under another name and renamed when whole, so that an interrupted attempt leaves nothing half-made.
 */
export async function initialisedCluster(home: string, initdb: string, owner: Owner | null, sync: boolean): Promise<Cluster> {
  const data = join(home, 'data');
  const passwordFile = join(home, 'password');
  if (await exists(join(data, 'PG_VERSION'))) return { data, password: await readFile(passwordFile, 'utf8') };
  const leftovers = (await readdir(home)).filter((name) => name.startsWith('new-'));
  await Promise.all(leftovers.map((name) => rm(join(home, name), { recursive: true, force: true })));
  const password = randomBytes(24).toString('base64url');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (owner !== null) await chown(passwordFile, owner.uid, owner.gid);
  const scratch = join(home, `new-${randomBytes(6).toString('hex')}`);
  const args = [
    `--pgdata=${scratch}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8',
    '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...(sync ? [] : ['--no-sync']),
  ];
  try {
    await run(initdb, args, { ...owner, env: serverEnvironment() });
  } catch (error) {
    throw new StackError(`PostgreSQL could not be initialised in ${home}: ${reasonOf(error)}\nFree the disk or remove that folder, then start again.`);
  }
  await rename(scratch, data);
  return { data, password };
}

/** PG* settings of the person who starts us are not for this server, and its messages are read by us. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}
