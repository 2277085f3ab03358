import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, StepError, run, say } from './run.mjs';

const LOCK = join(ROOT, 'package-lock.json');
const STAMP = join(ROOT, 'node_modules', '.holdfast-lock');
const OF_NPM = join(ROOT, 'node_modules', '.package-lock.json');
const COMPILER = join(ROOT, 'node_modules', 'typescript', 'package.json');

/** Refuses a Node that is older than package.json says. */
export function checkNode(have = process.versions.node) {
  const need = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node.replace('>=', '');
  const [haveParts, needParts] = [have, need].map((version) => version.split('.').map(Number));
  const differs = needParts.findIndex((part, index) => part !== haveParts[index]);
  if (differs !== -1 && haveParts[differs] < needParts[differs]) {
    throw new StepError(`Node ${need} or newer is needed, this is ${have}. Install it from https://nodejs.org or with your version manager.`, 2);
  }
}

/** Runs "npm ci" unless what the lock file names is already there. */
export async function install() {
  const digest = createHash('sha256').update(readFileSync(LOCK)).digest('hex');
  if (isInstalled(digest)) return;
  say('installing the packages of package-lock.json (npm ci, about a minute)');
  const npm = process.env.npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const code = await run(npm[0], [...npm.slice(1), 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']);
  if (code !== 0) throw new StepError(`"npm ci" ended with code ${code}; its output above says why. It needs access to the npm registry.`);
  writeFileSync(STAMP, digest);
}

function isInstalled(digest) {
  if (!existsSync(COMPILER)) return false;
  if (existsSync(STAMP)) return readFileSync(STAMP, 'utf8') === digest;
  // Somebody ran npm by hand: npm's own note is newer than the lock file it followed.
  return existsSync(OF_NPM) && statSync(OF_NPM).mtimeMs >= statSync(LOCK).mtimeMs;
}
