import { Option, type Command } from 'commander';
import { standingOf, type Submitted, type TurnView, type Waited } from '../../client/index.js';
import { EXIT, type CommandContext } from '../context.js';
import { fileReference } from '../file-ref.js';
import { formatTurn } from '../format-turn.js';
import { collect, durationOption, jsonFile } from '../options.js';
import type { Register } from '../program.js';

interface SendOptions {
  agent?: string;
  thread?: string;
  requestId?: string;
  steer?: boolean;
  data?: string;
  file: string[];
  wait: boolean;
  timeout: number;
}

export const registerSend: Register = (program, run) => {
  program
    .command('send')
    .summary('submit an input and wait until the turn ends or needs a person')
    .description('Submits an input and waits until its turn ends or needs a person. The same --request-id gets the same turn again.')
    .argument('<text>', 'what to say; "-" reads it from stdin')
    .option('--agent <name>', 'agent that answers (default: the default agent of the configuration)')
    .option('--thread <id>', 'conversation (default: a new one)')
    .option('--request-id <id>', 'makes the request repeatable (default: a random one)')
    .option('--steer', 'hand the input to the running turn at its next model call')
    .option('--data <file>', 'JSON file that goes with the text')
    .option('--file <path>', 'send a reference to a file; may be repeated', collect, [])
    .option('--no-wait', 'return as soon as the input is accepted')
    .addOption(new Option('--timeout <duration>', 'longest wait').argParser(durationOption).default(60_000, '60s'))
    .addHelpText('after', `
Exit codes: 0 completed, 1 failed or refused, 4 waiting for a person.

Examples:
  holdfast send "Book a table for 4 on 2026-12-24 at 19:00 for Kim"
  holdfast send --agent booking --thread kim --request-id r-17 "…"
  echo "a long text" | holdfast send --thread kim -`)
    .action((text: string, options: SendOptions, command: Command) => run(command, (context) => send(context, text, options)));
};

async function send(context: CommandContext, text: string, options: SendOptions): Promise<number> {
  const [data, files] = [options.data === undefined ? undefined : await jsonFile(options.data), await Promise.all(options.file.map(fileReference))];
  const agent = options.agent ?? (await (await context.runtime()).config()).app.default_agent;
  const client = await context.client();
  const submitted = await client.submit({
    agent, threadId: options.thread, requestId: options.requestId, text: text === '-' ? await context.io.stdin() : text,
    ...(data === undefined ? {} : { data }), ...(files.length === 0 ? {} : { files }), mode: options.steer === true ? 'steer' : 'queue', as: context.globals.as,
  });
  return showOutcome(context, submitted, options);
}

/** Waits for a submitted turn as asked, prints it, and says how it stands. */
export async function showOutcome(context: CommandContext, submitted: Submitted, options: { wait: boolean; timeout: number }): Promise<number> {
  const client = await context.client();
  if (!options.wait) {
    const turn = await client.turn(submitted.turnId);
    context.print([turn], formatTurn(turn));
    return standingOf(turn.status, false) === 'open' ? EXIT.done : exitOf(turn);
  }
  const waited = await client.waitForTurn(submitted.turnId, { timeoutMs: options.timeout });
  context.print([waited.turn], formatTurn(waited.turn));
  return explain(context, waited, options.timeout);
}

function explain(context: CommandContext, { turn, why, behind }: Waited, timeoutMs: number): number {
  if (why === 'behind' && behind !== null) {
    context.note(`The turn is queued behind turn ${behind.turnId}, which is ${behind.status}. "holdfast turn show ${behind.turnId}" shows what it needs.`);
    return EXIT.person;
  }
  if (why === 'timeout') {
    context.note(`The turn is still ${turn.status} after ${timeoutMs / 1000} s. It goes on by itself; "holdfast turn show ${turn.turnId}" shows it.`);
    return EXIT.refused;
  }
  return exitOf(turn);
}

/** Exit code for a turn as it stands. */
export function exitOf(turn: Pick<TurnView, 'status'>): number {
  if (turn.status === 'completed') return EXIT.done;
  return standingOf(turn.status, false) === 'person' ? EXIT.person : EXIT.refused;
}
