import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TSC } from './build.mjs';
import { ROOT, StepError, run, say } from './run.mjs';

const REPORT = join(ROOT, 'reports', 'vitest.json');

/** The test runner of this checkout. */
export const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

export async function checkTypes() {
  say('checking the types of the tests');
  if ((await run(process.execPath, [TSC, '-p', 'tsconfig.test.json'])) !== 0) throw new StepError('the tests do not type-check; see above');
}

/** The line that ends every test run. @param {{ passed: number, failed: number, skipped: number }} counts */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/**
 * Type-checks the tests, runs them, and ends with the summary line. Answers the exit code: not 0 when something failed, when no test ran,
 * or when CI is set and a test was skipped (I2).
 */
export async function test(args) {
  await checkTypes();
  mkdirSync(join(ROOT, 'reports'), { recursive: true });
  rmSync(REPORT, { force: true });
  say('running the tests on a Temporal and a PostgreSQL of their own');
  const code = await run(process.execPath, [VITEST, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`, ...args]);
  if (!existsSync(REPORT)) throw new StepError('vitest ended without a report; see above');
  return conclude(JSON.parse(readFileSync(REPORT, 'utf8')), code);
}

function conclude(report, code) {
  const { passed, failed, skipped } = counted(report);
  for (const name of skipped) say(`skipped: ${name}`);
  const outside = code !== 0 && failed === 0 && passed > 0;
  if (outside) say('vitest reports an error outside of the tests; see above');
  // A run without tests, or with an error outside of them, is a failed one.
  if (passed + failed === 0) say('no test ran');
  const skippedInCi = skipped.length > 0 && Boolean(process.env.CI);
  if (skippedInCi) say('CI allows no skipped test: install what the reasons above name');
  console.log(summaryLine({ passed, failed: Math.max(failed, Number(outside || passed + failed === 0)), skipped: skipped.length }));
  return code !== 0 || passed === 0 || failed > 0 || skippedInCi ? 1 : 0;
}

/** A file that failed before its first test counts as one failed test. */
export function counted(report) {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const broken = report.testResults.filter((file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'));
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length + broken.length,
    skipped: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).map(({ fullName }) => fullName),
  };
}
