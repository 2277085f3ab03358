import { randomBytes } from 'node:crypto';
import { chmod, chown, cp, mkdir, mkdtemp, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { binariesIn, type PostgresBinaries } from './binaries.js';
import { canReach, type Owner } from './owner.js';

/** Where root puts what the account of PostgreSQL must reach when the checkout is in a private folder such as /root. */
const SHARED = '/var/lib/holdfast';

type Log = (line: string) => void;

/** The binaries, or a copy of them that `owner` can run. */
export async function reachableBinaries(binaries: PostgresBinaries, version: string, owner: Owner | null, log: Log): Promise<PostgresBinaries> {
  if (await canReach(binaries.home, owner)) return binaries;
  const copy = join(SHARED, `postgresql-${version}`);
  if (!(await exists(copy))) {
    log(`PostgreSQL: its account cannot enter ${binaries.home}; copying it to ${copy} (once)`);
    const scratch = `${copy}-${randomBytes(6).toString('hex')}`;
    await makeShared();
    await cp(binaries.home, scratch, { recursive: true, verbatimSymlinks: true });
    await chmod(scratch, 0o755);
    // Somebody else may have put the same copy there meanwhile.
    await rename(scratch, copy).catch(() => rm(scratch, { recursive: true, force: true }));
  }
  return binariesIn(copy);
}

/**
 * The folder for data and password, made and owned by `owner`. One that `owner` cannot reach moves under /var/lib/holdfast and leaves
 * a link in its place, which is how it is found again.
 */
export async function dataHome(path: string, owner: Owner | null, log: Log): Promise<string> {
  const wanted = resolve(path);
  await mkdir(dirname(wanted), { recursive: true });
  if (await canReach(dirname(wanted), owner)) return ownedFolder(wanted, owner);
  const moved = await readlink(wanted).catch(() => null);
  if (moved !== null) return ownedFolder(moved, owner);
  await makeShared();
  const elsewhere = await mkdtemp(join(SHARED, 'data-'));
  await symlink(elsewhere, wanted);
  log(`PostgreSQL: its account cannot enter ${dirname(wanted)}; the data goes to ${elsewhere}`);
  return ownedFolder(elsewhere, owner);
}

/** A folder that only this run uses; the caller removes it. */
export async function scratchHome(owner: Owner | null): Promise<string> {
  return ownedFolder(await mkdtemp(join(tmpdir(), 'holdfast-postgres-')), owner);
}

async function ownedFolder(folder: string, owner: Owner | null): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (owner !== null) await chown(folder, owner.uid, owner.gid);
  return folder;
}

async function makeShared(): Promise<void> {
  await mkdir(SHARED, { recursive: true });
  // Whatever the umask says: entering it is what it is for.
  await chmod(SHARED, 0o755);
}

export function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, () => false);
}
