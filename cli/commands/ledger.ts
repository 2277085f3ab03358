import { Option, type Command } from 'commander';
import { entryKindSchema, ledgerStateSchema, type EntryKind, type LedgerState, type Settlement } from '../../contracts/ledger.js';
import { EXIT, type CommandContext } from '../context.js';
import { guaranteesOf } from '../capability-lines.js';
import { formatLedger, formatLedgerEntry } from '../format-ledger.js';
import { limitOption, wholeNumberOption } from '../options.js';
import type { Register } from '../program.js';
import { printable } from '../text.js';

interface ListOptions {
  state?: LedgerState;
  turn?: string;
  kind?: EntryKind;
  limit?: number;
}

export const registerLedger: Register = (program, run) => {
  const ledger = program.command('ledger').description('What was asked of models, children and the outside world, and how it ended');
  ledger
    .command('list')
    .description('Lists entries in order; with more than the limit, the newest')
    .addOption(new Option('--state <state>', 'only entries in this state').choices(ledgerStateSchema.options))
    .option('--turn <turn>', 'only this turn and its children')
    .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(entryKindSchema.options))
    .option('--limit <n>', 'at most so many (default 100, no more than 500)', limitOption)
    .addHelpText('after', '\nExample:\n  holdfast ledger list --state unknown')
    .action((options: ListOptions, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).ledger({ state: options.state, turnId: options.turn, kind: options.kind, limit: options.limit });
        context.print(found, formatLedger(found));
        return EXIT.done;
      }));
  ledger
    .command('show')
    .description('Tells the story of one entry: where it stands, what happened, what its target guarantees, what can be done')
    .argument('<key>')
    .addHelpText('after', '\nExample:\n  holdfast ledger show t0123….1.0')
    .action((key: string, _options: object, command: Command) =>
      run(command, async (context) => {
        const client = await context.client();
        const found = await client.ledgerEntry(key);
        context.print([found], formatLedgerEntry(found, await guaranteesOf(client, found)));
        return EXIT.done;
      }));
  registerReconcile(ledger, run);
  registerSettle(ledger, run);
  registerCompensate(ledger, run);
};

const registerReconcile: Register = (ledger, run) => {
  ledger
    .command('reconcile')
    .description('Looks up one unsettled effect, or all of them, at the target now')
    .argument('[key]')
    .addHelpText('after', '\nExit code 4 when something is still unknown.\n\nExamples:\n  holdfast ledger reconcile\n  holdfast ledger reconcile t0123….1.0')
    .action((key: string | undefined, _options: object, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).reconcile(key);
        context.print(found, found.length === 0 ? 'nothing was unsettled' : found.map((entry) => formatLedgerEntry(entry)).join('\n\n'));
        return found.some((entry) => entry.state === 'unknown') ? EXIT.person : EXIT.done;
      }));
};

const registerSettle: Register = (ledger, run) => {
  ledger
    .command('settle')
    .description('Settles an unknown effect by your word; the waiting turn goes on by itself')
    .argument('<key>')
    .addOption(new Option('--version <n>', 'version of the entry that you saw').argParser(wholeNumberOption).makeOptionMandatory())
    .addOption(new Option('--outcome <outcome>', 'what is true').choices(['succeeded', 'failed', 'retry']).makeOptionMandatory())
    .option('--external-id <id>', 'id at the target, with "succeeded"')
    .addOption(new Option('--reason <text>', 'how you know').makeOptionMandatory())
    .addHelpText('after', '\nExample:\n  holdfast ledger settle t0123….1.0 --version 4 --outcome succeeded --external-id r-17 --reason "seen in the back office"')
    .action((key: string, options: Settlement, command: Command) => run(command, (context) => settle(context, key, options)));
};

const registerCompensate: Register = (ledger, run) => {
  ledger
    .command('compensate')
    .description('Undoes an effect that was done, by the effect that its agent declares for that')
    .argument('<key>')
    .addOption(new Option('--reason <text>', 'why').makeOptionMandatory())
    .addHelpText('after', '\nIt is a new effect of its own: with its own key, its own approval, and it may fail. Prints its turn; "holdfast turn show" follows it.\n\nExample:\n  holdfast ledger compensate t0123….1.0 --reason "the guest cancelled"')
    .action((key: string, { reason }: { reason: string }, command: Command) =>
      run(command, async (context) => {
        const answer = await (await context.client()).compensate(key, { reason, as: context.globals.as });
        context.print([answer], answer.result === 'refused' ? `refused (${answer.code}): ${printable(answer.message)}` : `${answer.result}: turn ${answer.turnId}`);
        return answer.result === 'refused' ? EXIT.refused : EXIT.done;
      }));
};

async function settle(context: CommandContext, key: string, options: Settlement): Promise<number> {
  const answer = await (await context.client()).settle(key, {
    version: options.version, outcome: options.outcome, reason: options.reason, as: context.globals.as,
    ...(options.externalId === undefined ? {} : { externalId: options.externalId }),
  });
  const human = answer.result === 'refused' ? `refused (${answer.code}): ${printable(answer.message)}` : `${answer.result}, version ${answer.version}`;
  context.print([answer], human);
  return answer.result === 'refused' ? EXIT.refused : EXIT.done;
}
