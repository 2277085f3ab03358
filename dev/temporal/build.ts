import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { intoCache } from './cache.js';

/** Newest version of the official CLI that builds from public Go modules alone. */
const VERSION = '1.4.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
const KEEP = 2_000;

/** Builds the official Temporal CLI with `go` into the cache. Throws with the end of Go's output when that fails. */
export function buildTemporal(go: string, folder: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> {
  log(`Temporal: building ${MODULE} with ${go} (about 5 minutes, once)`);
  return intoCache(folder, env, async (scratch) => {
    await goInstall(go, { ...env, GOBIN: scratch }, log);
    return { binary: join(scratch, 'temporal'), version: VERSION };
  });
}

function goInstall(go: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(go, ['install', MODULE], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const started = Date.now();
    const stillAlive = setInterval(() => log(`Temporal: still building, ${Math.round((Date.now() - started) / 1000)} s so far`), 30_000);
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-KEEP);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearInterval(stillAlive);
      if (code === 0) resolve();
      else reject(new Error(`"go install ${MODULE}" ended with code ${code}: ${output.trim()}`));
    });
  });
}
