// Makes a fresh clone usable: installs, builds, then starts or tests (I1, I2, D36). Plain Node without dependencies, because nothing is there yet.
//   node dev/bootstrap.mjs build | start [ARGUMENTS OF "holdfast dev"] | test [ARGUMENTS OF vitest] | chaos [--write-docs | ARGUMENTS OF vitest]
import { build } from './bootstrap/build.mjs';
import { chaos } from './bootstrap/chaos.mjs';
import { checkNode, install } from './bootstrap/install.mjs';
import { StepError, run, say } from './bootstrap/run.mjs';
import { summaryLine, test } from './bootstrap/test.mjs';

const [command = '', ...rest] = process.argv.slice(2);

async function main() {
  if (!['build', 'start', 'test', 'chaos'].includes(command)) throw new StepError(`unknown command "${command}": use build, start, test or chaos`, 2);
  checkNode();
  await install();
  await build();
  if (command === 'start') return run(process.execPath, ['dist/cli/main.js', 'dev', '--demo', ...rest]);
  if (command === 'test') return test(rest);
  if (command === 'chaos') return chaos(rest);
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof StepError)) throw error;
  say(error.message);
  process.exitCode = error.exitCode;
  if (command === 'test') console.log(summaryLine({ passed: 0, failed: 1, skipped: 0 }));
}
