import { Option, type Command } from 'commander';
import type { DevOptions } from '../dev/run.js';
import type { Register } from '../program.js';

export const registerDev: Register = (program, run) => {
  program
    .command('dev')
    .summary('the whole stack in the foreground')
    .description('Starts Temporal with its UI, PostgreSQL, a worker and the API, and keeps serving until SIGINT or SIGTERM')
    .option('--demo', 'start the booking server too and run the sample turn', false)
    .option('--once', 'with --demo: stop after the sample turn, with its exit code', false)
    .option('--no-worker', 'without a worker')
    .option('--no-api', 'without the HTTP API')
    .addOption(new Option('--memory <mode>', 'in-memory: throw-away servers; off: no earlier message enters a prompt').choices(['postgres', 'in-memory', 'in_memory', 'off']).default('postgres'))
    .addHelpText('after', '\nExamples:\n  holdfast dev --demo\n  holdfast dev --demo --once\n  holdfast dev --no-worker        and in another terminal: holdfast worker')
    .action((options: DevOptions, command: Command) => run(command, async (context) => (await import('../dev/run.js')).runDev(context, options)));
};
