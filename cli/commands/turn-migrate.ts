import type { Command } from 'commander';
import type { MigrateAnswer } from '../../client/index.js';
import { EXIT } from '../context.js';
import type { Register } from '../program.js';
import { printable, shellWord } from '../text.js';

export const registerTurnMigrate: Register = (turn, run) => {
  turn
    .command('migrate')
    .description('Moves an unfinished turn to the current definition of its agent, or to the one with this digest; what was recorded stays (D34)')
    .argument('<turn>')
    .option('--to <digest>', 'digest of a stored definition of the same agent; "turn show --json" of its other turns has them')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', '\nExample:\n  holdfast turn migrate t0123… --reason "release 2 fixed the prompt"')
    .action((id: string, options: { to?: string; reason?: string }, command: Command) =>
      run(command, async (context) => {
        const answer = await (await context.client()).migrate(id, { ...options, as: context.globals.as });
        context.print([answer], formatMigration(answer));
        return answer.result === 'refused' ? EXIT.refused : EXIT.done;
      }));
};

const SHOWN_DIGITS = 12;

/** What was changed, and what a person has to do now. */
export function formatMigration(answer: MigrateAnswer): string {
  if (answer.result === 'refused') return `refused (${answer.code}): ${printable(answer.message)}`;
  if (answer.result === 'already') return `already: ${answer.turnId} has the definition ${answer.to.slice(0, SHOWN_DIGITS)}; nothing was changed`;
  return [
    `migrated ${answer.turnId} from ${answer.from.slice(0, SHOWN_DIGITS)} to ${answer.to.slice(0, SHOWN_DIGITS)}`,
    answer.takesEffect === 'now' ? '  the turn goes on with it' : '  it takes effect at its next step; what is under way ends with the meaning that it began with',
    ...answer.closed.map(({ name, reason }) => `  closed: ${printable(name)}: ${printable(reason)}`),
    ...answer.reproposed.map(({ approvalId, version }) => `  version ${version} needs its own approval: holdfast approval show ${shellWord(approvalId)}`),
    ...answer.openChildren.map((child) => `  the child's turn keeps its own definition: holdfast turn migrate ${shellWord(child)}`),
  ].join('\n');
}
