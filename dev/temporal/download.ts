import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { intoCache } from './cache.js';

const run = promisify(execFile);
const ANSWER_WITHIN_MS = 8_000;
const WHOLE_WITHIN_MS = 5 * 60_000;

/** Where the official download is. Tests put another address here. */
export const OFFICIAL_DOWNLOAD = 'https://temporal.download/cli/archive/latest';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Downloads the official Temporal CLI into the cache. Throws when this machine has none, or the server does not answer in time. */
export async function downloadTemporal(from: string, folder: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> {
  const arch = ARCHITECTURES[process.arch];
  if (arch === undefined || !['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`there is no official download for ${process.platform} ${process.arch}`);
  }
  const url = `${from}?platform=${process.platform}&arch=${arch}`;
  log(`Temporal: downloading ${url} (about 50 MB, once)`);
  return intoCache(folder, env, async (scratch) => {
    const archive = join(scratch, 'temporal.tar.gz');
    await save(url, archive);
    await run('tar', ['-xzf', archive, '-C', scratch, 'temporal']);
    return { binary: join(scratch, 'temporal'), version: null };
  });
}

async function save(url: string, file: string): Promise<void> {
  const giveUp = new AbortController();
  const answer = setTimeout(() => giveUp.abort(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`)), ANSWER_WITHIN_MS);
  const whole = setTimeout(() => giveUp.abort(new Error(`not here within ${WHOLE_WITHIN_MS / 1000} s`)), WHOLE_WITHIN_MS);
  try {
    const response = await fetch(url, { signal: giveUp.signal }).finally(() => clearTimeout(answer));
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
  } finally {
    clearTimeout(whole);
  }
}
