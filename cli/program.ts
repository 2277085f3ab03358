import { Command, CommanderError } from 'commander';
import { defaultUser, EXIT, runCommand, type CommandContext } from './context.js';
import type { Io } from './io.js';
import { reportUsage } from './report.js';
import { COMMANDS } from './commands/index.js';
import { printable } from './text.js';
import { version } from './version.js';

/** Runs the action of a command. */
export type Run = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

/** Adds one command, or one group of commands, to the program. */
export type Register = (program: Command, run: Run) => void;

// Not an option of commander's: it would swallow the --version of "ledger settle".
const VERSION_FLAGS = ['--version', '-V'];

/** Parses the arguments, runs one command and returns the exit code (document 5). Never exits the process itself. */
export async function runProgram(io: Io, argv: string[]): Promise<number> {
  if (argv.length === 1 && VERSION_FLAGS.includes(argv[0] ?? '')) {
    io.out(version());
    return EXIT.done;
  }
  let exit: number = EXIT.done;
  const program = buildProgram(io, async (command, work) => {
    exit = await runCommand(io, command, work);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (asksForJson(argv)) reportUsage(io, error);
    return EXIT.usage;
  }
}

/** Wrong usage may have stopped the parser before it came to the option. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

/** The whole command line. `run` is told which command was chosen. */
export function buildProgram(io: Io, run: Run): Command {
  const program = new Command('holdfast')
    .description('Durable agentic turns on Temporal and PostgreSQL')
    .option('--config <file>', 'configuration file (default: holdfast.toml)')
    .option('--json', 'print one JSON object per line on stdout', false)
    .option('--as <user>', 'who acts, in development', defaultUser())
    .option('--state-dir <dir>', 'where "holdfast dev" keeps its data', '.holdfast')
    .addHelpText('after', `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration, 3 a server cannot be reached, 4 waiting for a person.

holdfast --version prints the version.

Examples:
  holdfast dev --demo                     the whole stack with a sample turn
  holdfast send "Book a table for 4 …"    submit and wait
  holdfast approval list                  what waits for a person`);
  for (const register of COMMANDS) register(program, run);
  settle(program, io);
  return program;
}

/** Subcommands inherit neither of these when they are made before them, so that they are set on all at the end. */
function settle(command: Command, io: Io): void {
  command
    .exitOverride()
    .showHelpAfterError('(add --help for usage and examples)')
    .configureOutput({ writeOut: (text) => io.out(text.replace(/\n$/, '')), writeErr: (text) => io.err(printable(text.replace(/\n$/, ''))) });
  for (const child of command.commands) settle(child, io);
}
