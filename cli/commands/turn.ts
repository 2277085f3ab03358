import { Option, type Command } from 'commander';
import { turnStatusSchema, type TurnStatus } from '../../contracts/turn.js';
import { EXIT } from '../context.js';
import { formatTurn, formatTurns } from '../format-turn.js';
import { durationOption, limitOption } from '../options.js';
import type { Register } from '../program.js';
import { printable } from '../text.js';
import { showOutcome } from './send.js';
import { registerTurnMigrate } from './turn-migrate.js';

export const registerTurn: Register = (program, run) => {
  const turn = program.command('turn').description('Look at turns, cancel them, give them input, move them to another definition');
  turn
    .command('show')
    .description('Shows one turn with its effects, approvals and usage')
    .argument('<turn>')
    .addHelpText('after', '\nExample:\n  holdfast turn show t0123… --json')
    .action((id: string, _options: object, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).turn(id);
        context.print([found], formatTurn(found));
        return EXIT.done;
      }));
  turn
    .command('list')
    .description('Lists turns, newest first')
    .addOption(new Option('--status <status>', 'only turns that stand like this').choices(turnStatusSchema.options))
    .option('--thread <id>', 'only turns of this conversation')
    .option('--limit <n>', 'at most so many (default 50, no more than 500)', limitOption)
    .addHelpText('after', '\nExample:\n  holdfast turn list --status waiting_approval')
    .action((options: { status?: TurnStatus; thread?: string; limit?: number }, command: Command) =>
      run(command, async (context) => {
        const found = await (await context.client()).turns(options);
        context.print(found, formatTurns(found));
        return EXIT.done;
      }));
  registerCancel(turn, run);
  registerInput(turn, run);
  registerTurnMigrate(turn, run);
};

const registerCancel: Register = (turn, run) => {
  turn
    .command('cancel')
    .description('Asks for cancellation: nothing new starts, running calls are ended, what did happen is told')
    .argument('<turn>')
    .option('--reason <text>', 'why')
    .addHelpText('after', '\nExample:\n  holdfast turn cancel t0123… --reason "booked by phone"')
    .action((id: string, options: { reason?: string }, command: Command) =>
      run(command, async (context) => {
        const answer = await (await context.client()).cancel(id, { reason: options.reason, as: context.globals.as });
        const human = answer.result === 'refused' ? `refused: ${printable(answer.message)}` : answer.result === 'already_ended' ? `already ended: ${answer.status}` : `cancelling ${answer.turnId}`;
        context.print([answer], human);
        return answer.result === 'cancelling' ? EXIT.done : EXIT.refused;
      }));
};

const registerInput: Register = (turn, run) => {
  turn
    .command('input')
    .description('Gives the conversation of a turn new input; a turn that waits for input goes on with it')
    .argument('<turn>')
    .argument('<text>', 'what to say; "-" reads it from stdin')
    .option('--request-id <id>', 'makes the request repeatable')
    .option('--steer', 'hand the input to the running turn at its next model call')
    .option('--no-wait', 'return as soon as the input is accepted')
    .addOption(new Option('--timeout <duration>', 'longest wait').argParser(durationOption).default(60_000, '60s'))
    .addHelpText('after', '\nExample:\n  holdfast turn input t0123… "at 19:00"')
    .action((id: string, text: string, options: { requestId?: string; steer?: boolean; wait: boolean; timeout: number }, command: Command) =>
      run(command, async (context) => {
        const client = await context.client();
        const words = text === '-' ? await context.io.stdin() : text;
        const submitted = await client.input(id, words, { requestId: options.requestId, mode: options.steer === true ? 'steer' : 'queue', as: context.globals.as });
        return showOutcome(context, submitted, options);
      }));
};
