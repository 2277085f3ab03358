import type { Command } from 'commander';
import { describeConfig } from '../../config/check.js';
import { EXIT } from '../context.js';
import type { Register } from '../program.js';
import { printable } from '../text.js';

export const registerConfig: Register = (program, run) => {
  program
    .command('config')
    .description('The configuration')
    .command('check')
    .description('Checks the configuration file and prints what is in effect, secrets masked')
    .addHelpText('after', '\nExample:\n  holdfast config check --config staging.toml')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const runtime = await context.runtime();
        const config = await runtime.config();
        await runtime.compiled();
        const effective = describeConfig(config, runtime.settings, context.io.env);
        context.print([effective], printable(JSON.stringify(effective, null, 2)));
        return EXIT.done;
      }));
};
