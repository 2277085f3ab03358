import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, StepError, run, say } from './run.mjs';
import { VITEST, checkTypes } from './test.mjs';

const DOC = join(ROOT, 'docs', 'guarantees.md');
const LAST_RUN = /(<!-- last run -->\n)[^]*?(<!-- end of last run -->)/;

/**
 * Runs the full kill matrix on servers of its own that it crashes, prints its table and writes reports/chaos.json, also when it fails (D36).
 * With `--write-docs` a run that is right puts its table and date into docs/guarantees.md. Answers the exit code.
 */
export async function chaos(args) {
  const rest = args.filter((arg) => arg !== '--write-docs');
  const writeDocs = rest.length < args.length;
  if (writeDocs && rest.length > 0) throw new StepError('--write-docs is for a full run; leave the other arguments out', 2);
  await checkTypes();
  say('running the kill matrix: a few minutes, on a Temporal and a PostgreSQL of its own');
  const code = await run(process.execPath, [VITEST, 'run', '--config', 'test/chaos/matrix/matrix.config.ts', ...rest]);
  if (code === 0 && writeDocs) {
    const table = readFileSync(join(ROOT, 'reports', 'chaos.md'), 'utf8');
    writeFileSync(DOC, readFileSync(DOC, 'utf8').replace(LAST_RUN, (_, start, end) => `${start}${table}${end}`));
    say('docs/guarantees.md shows this run');
  }
  return code;
}
