import type { CommanderError } from 'commander';
import { HoldfastError } from '../client/index.js';
import { ConfigError } from '../config/error.js';
import { StackError } from '../dev/errors.js';
import type { Io } from './io.js';
import { printable } from './text.js';

/** Code and exit code of anything that a command throws. */
function kindOf(error: unknown): { code: string; exit: number } {
  if (error instanceof HoldfastError) return { code: error.code, exit: error.exitCode };
  if (error instanceof ConfigError) return { code: 'configuration', exit: 2 };
  if (error instanceof StackError) return { code: error.exitCode === 3 ? 'unreachable' : 'configuration', exit: error.exitCode };
  return { code: 'internal', exit: 1 };
}

/**
 * Tells what went wrong: for people on stderr, and with `--json` as an object on stdout too, so that a script needs to read one
 * stream only. Returns the exit code.
 */
export function reportError(io: Io, json: boolean, error: unknown): number {
  const { code, exit } = kindOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (json) io.out(JSON.stringify({ error: { code, message } }));
  io.err(`error: ${printable(message)}`);
  if (code === 'internal' && error instanceof Error && io.env['HOLDFAST_LOG_LEVEL'] === 'debug') io.err(error.stack ?? '');
  return exit;
}

/** Wrong usage as an object on stdout, for a script; commander itself has told a person on stderr. */
export function reportUsage(io: Io, error: CommanderError): void {
  const message = error.code === 'commander.help' ? 'A command is missing. --help lists them.' : error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  io.out(JSON.stringify({ error: { code: 'invalid_input', message } }));
}
