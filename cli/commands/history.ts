import { access, readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { HoldfastError } from '../../client/index.js';
import { EXIT } from '../context.js';
import type { Register } from '../program.js';
import { printable } from '../text.js';

/** How the replay of one file went. */
interface Checked {
  file: string;
  replays: boolean;
  problem: string | null;
}

export const registerHistory: Register = (program, run) => {
  program
    .command('history')
    .description('Recorded Temporal histories')
    .command('check')
    .description('Replays recorded histories against this build: a history that does not replay would stop its conversation (D34)')
    .argument('<file...>', 'JSON as "temporal workflow show --output json" or the Temporal UI writes it, or a folder of such files')
    .addHelpText('after', '\nExample:\n  holdfast history check test/replay/histories')
    .action((files: string[], _options: object, command: Command) =>
      run(command, async (context) => {
        const checked = await checkHistories(files);
        context.print(checked, checked.map((c) => `${c.replays ? 'ok     ' : 'PROBLEM'}  ${printable(c.file)}${c.problem === null ? '' : `: ${printable(c.problem)}`}`).join('\n'));
        return checked.every((c) => c.replays) ? EXIT.done : EXIT.refused;
      }));
};

async function checkHistories(paths: string[]): Promise<Checked[]> {
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  const { recordedRun, replay } = await import('../../worker/replay.js');
  const { BUNDLE_PATH } = await import('../../worker/bundle.js');
  await access(BUNDLE_PATH).catch(() => {
    throw new HoldfastError('configuration', `The workflow bundle ${BUNDLE_PATH} is missing. Build it with "npm run build".`);
  });
  // What matters of a failed replay is in its error; the SDK's own log would bury it.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions: { logging: { filter: 'OFF' } } });
  const files = (await Promise.all(paths.map(filesOf))).flat();
  // All are read before the first is replayed: a file that is no history is wrong usage.
  const runs = await Promise.all(files.map(async (file) => ({ file, run: await readable(file, async () => recordedRun(JSON.parse(await readFile(file, 'utf8')))) })));
  const checked: Checked[] = [];
  for (const { file, run } of runs) {
    const problem = await replay(run);
    checked.push({ file, replays: problem === null, problem });
  }
  return checked;
}

/** A folder stands for the JSON files in it. */
async function filesOf(path: string): Promise<string[]> {
  return readable(path, async () => {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
    if (names.length === 0) throw new Error('the folder has no .json file');
    return names.map((name) => join(path, name));
  });
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new HoldfastError('invalid_input', `${path} is not a readable history (${error instanceof Error ? error.message : 'unknown reason'}).`);
  }
}
