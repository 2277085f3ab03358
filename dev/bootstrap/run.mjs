import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The checkout; every path of these scripts is relative to it. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A step that cannot be done. The message says what would fix it. */
export class StepError extends Error {
  /** @param {string} message @param {number} exitCode */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One line about what is being done. On stderr, so that stdout stays the program's own. @param {string} line */
export function say(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}

/**
 * Runs a program in the checkout with our terminal, hands on SIGINT and SIGTERM, and answers its exit code (128 + n for a signal).
 * A terminal sends Ctrl-C to the program itself; only without one it needs to be told.
 * @param {string} command @param {string[]} args @param {Record<string, string>} env @returns {Promise<number>}
 */
export function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
    const onInterrupt = () => process.stdin.isTTY || child.kill('SIGINT');
    const onTerminate = () => child.kill('SIGTERM');
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate);
    child.once('error', (error) => reject(new StepError(`${command} could not be run: ${error.message}`)));
    child.once('close', (code, signal) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
