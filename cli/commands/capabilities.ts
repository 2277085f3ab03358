import type { Command } from 'commander';
import { capabilityLines, formatCapabilities } from '../capability-lines.js';
import { EXIT } from '../context.js';
import type { Register } from '../program.js';

export const registerCapabilities: Register = (program, run) => {
  program
    .command('capabilities')
    .description('What each effect can guarantee, from what its target offers')
    .addHelpText('after', '\nExample:\n  holdfast capabilities --json')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const lines = await capabilityLines(await context.client());
        context.print(lines, formatCapabilities(lines));
        return EXIT.done;
      }));
};
