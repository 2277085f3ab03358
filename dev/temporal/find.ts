import { StackError, reasonOf } from '../errors.js';
import { onPath } from '../on-path.js';
import { buildTemporal } from './build.js';
import { cachedTemporal, cacheFolder } from './cache.js';
import { OFFICIAL_DOWNLOAD, downloadTemporal } from './download.js';
import { checkTemporal } from './version.js';

/** `downloadFrom` defaults to the official address. */
export interface FindTemporal {
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  downloadFrom?: string;
}

type Way = { what: string; find: () => Promise<string | null>; none: string };

/**
 * The Temporal CLI to run, in the order of I3: on PATH, cached, official download, built with Go. Throws one `StackError` that lists what
 * was tried and what would fix it.
 */
export async function findTemporal({ env, log, downloadFrom = OFFICIAL_DOWNLOAD }: FindTemporal): Promise<string> {
  const folder = cacheFolder(env);
  const ways: Way[] = [
    { what: '"temporal" on PATH', find: () => checkedOnPath(env), none: 'not found' },
    { what: `a cached one in ${folder}`, find: () => cachedTemporal(folder, env), none: 'none that runs' },
    { what: 'the official download', find: () => downloadTemporal(downloadFrom, folder, env, log), none: 'not available' },
    { what: 'building it with Go', find: () => buildOnPath(folder, env, log), none: 'no "go" on PATH' },
  ];
  const tried: string[] = [];
  for (const way of ways) {
    try {
      const binary = await way.find();
      if (binary !== null) return binary;
      tried.push(`  - ${way.what}: ${way.none}`);
    } catch (error) {
      tried.push(`  - ${way.what}: ${reasonOf(error)}`);
      log(`Temporal: ${way.what} did not work: ${reasonOf(error).split('\n')[0]}`);
    }
  }
  throw new StackError(
    `No Temporal server could be found or made. Tried:\n${tried.join('\n')}\nAny one of these helps: set TEMPORAL_ADDRESS to a running server; put the Temporal CLI `
      + `on PATH (https://docs.temporal.io/cli); allow downloads from temporal.download; install Go 1.24 or newer with access to Go modules.`,
  );
}

async function checkedOnPath(env: NodeJS.ProcessEnv): Promise<string | null> {
  const binary = await onPath('temporal', env);
  if (binary !== null) await checkTemporal(binary, env);
  return binary;
}

async function buildOnPath(folder: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string | null> {
  const go = await onPath('go', env);
  return go === null ? null : buildTemporal(go, folder, env, log);
}
