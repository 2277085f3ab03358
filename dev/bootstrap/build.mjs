import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, StepError, run, say } from './run.mjs';

const STAMP = join(ROOT, 'dist', '.holdfast-build');

/** The compiler of this checkout. */
export const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

/** Compiles to dist/, puts the migrations next to the code that reads them, and bundles the workflows, unless nothing has changed. */
export async function build() {
  const state = stateOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === state) return;
  say('compiling TypeScript to dist/');
  await step('the TypeScript compiler', [TSC, '-p', 'tsconfig.json']);
  const migrations = join(ROOT, 'dist', 'store', 'migrations');
  rmSync(migrations, { recursive: true, force: true });
  cpSync(join(ROOT, 'store', 'migrations'), migrations, { recursive: true });
  say('bundling the workflows to dist/workflow-bundle.js');
  await step('the workflow bundler', ['dist/worker/bundle.js']);
  writeFileSync(STAMP, state);
}

async function step(what, args) {
  const code = await run(process.execPath, args);
  if (code !== 0) throw new StepError(`${what} ended with code ${code}; its output above says why`);
}

/** Names, times and sizes of everything that a build reads; a removed file changes it, too. */
function stateOfSources() {
  const { include } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  const roots = [...include, 'tsconfig.json', 'package.json', 'package-lock.json'].filter((path) => existsSync(join(ROOT, path)));
  const digest = createHash('sha256').update(process.versions.node);
  for (const path of roots.flatMap(filesUnder).sort()) {
    const { mtimeMs, size } = statSync(join(ROOT, path));
    digest.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return digest.digest('hex');
}

function filesUnder(path) {
  if (statSync(join(ROOT, path)).isFile()) return [path];
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length));
}
