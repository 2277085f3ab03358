import type { Command } from 'commander';
import { requireSecrets } from '../../config/secrets.js';
import type { CommandContext } from '../context.js';
import { bad, exitOfChecks, good, type Check } from '../doctor/check.js';
import { checkPostgres } from '../doctor/check-postgres.js';
import { checkTemporal } from '../doctor/check-temporal.js';
import type { Register } from '../program.js';
import { clientSettings } from '../runtime.js';
import { printable } from '../text.js';

const LEAST_NODE = [20, 19] as const;

export const registerDoctor: Register = (program, run) => {
  program
    .command('doctor')
    .description('Checks what is wired and healthy, and says the way out of every problem')
    .addHelpText('after', '\nExit codes: 0 all well, 1 something to do, 2 configuration, 3 a server cannot be reached.\n\nExample:\n  holdfast doctor --json')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const checks = await allChecks(context);
        context.print(checks, checks.map(formatCheck).join('\n'));
        return exitOfChecks(checks);
      }));
};

async function allChecks(context: CommandContext): Promise<Check[]> {
  const runtime = await context.runtime();
  const settings = clientSettings(runtime.settings);
  const [configuration, postgres, temporal] = await Promise.all([checkConfiguration(context), checkPostgres(settings.postgres.dsn), checkTemporal(settings)]);
  return [checkNode(), ...configuration, ...postgres, ...temporal];
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  return enough ? good('node', process.versions.node) : bad('node', 'other', process.versions.node, `install Node ${LEAST_NODE.join('.')} or newer`);
}

async function checkConfiguration(context: CommandContext): Promise<Check[]> {
  const runtime = await context.runtime();
  try {
    const config = await runtime.config();
    await runtime.compiled();
    return [good('configuration', config.file), checkSecrets(() => requireSecrets(config, context.io.env))];
  } catch (error) {
    return [bad('configuration', 'configuration', error instanceof Error ? error.message : String(error), 'correct the file; "holdfast config check" shows what is in effect')];
  }
}

function checkSecrets(check: () => void): Check {
  try {
    check();
    return good('secrets', 'all set');
  } catch (error) {
    return bad('secrets', 'configuration', error instanceof Error ? error.message : String(error), 'set the variables in the environment of the worker');
  }
}

function formatCheck(check: Check): string {
  const line = `${check.ok ? 'ok     ' : 'PROBLEM'}  ${check.name.padEnd(18)} ${printable(check.found)}`;
  return check.way === null ? line : `${line}\n         ${''.padEnd(18)} → ${printable(check.way)}`;
}
