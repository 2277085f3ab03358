import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { HoldfastError } from '../../client/index.js';
import { EXIT } from '../context.js';
import { historyFromJson } from '../history-json.js';
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
    .argument('<file...>', 'JSON as "temporal workflow show --output json" writes it')
    .addHelpText('after', '\nExample:\n  holdfast history check test/replay/histories/*.json')
    .action((files: string[], _options: object, command: Command) =>
      run(command, async (context) => {
        const checked = await checkHistories(files);
        context.print(checked, checked.map((c) => `${c.replays ? 'ok     ' : 'PROBLEM'}  ${printable(c.file)}${c.problem === null ? '' : `: ${printable(c.problem)}`}`).join('\n'));
        return checked.every((c) => c.replays) ? EXIT.done : EXIT.refused;
      }));
};

async function checkHistories(files: string[]): Promise<Checked[]> {
  const codePath = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
  await access(codePath).catch(() => {
    throw new HoldfastError('configuration', `The workflow bundle ${codePath} is missing. Build it with "npm run build".`);
  });
  const { DefaultLogger, Runtime, Worker } = await import('@temporalio/worker');
  // What matters of a failed replay is in its error; the SDK's own log would bury it.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions: { logging: { filter: 'OFF' } } });
  const histories = await Promise.all(files.map(readHistory));
  const checked: Checked[] = [];
  for (const { file, workflowId, history } of histories) {
    for await (const { error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, [{ workflowId, history }])) {
      checked.push({ file, replays: error === undefined, problem: error?.message ?? null });
    }
  }
  return checked;
}

interface Recorded {
  file: string;
  workflowId: string;
  history: ReturnType<typeof historyFromJson>;
}

/** A conversation reads its own id, so that it must be replayed under the one that it was recorded with. */
async function readHistory(file: string): Promise<Recorded> {
  try {
    const history = historyFromJson(JSON.parse(await readFile(file, 'utf8')));
    const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    if (workflowId === undefined || workflowId === null || workflowId === '') throw new Error('its first event names no workflow id');
    return { file, workflowId, history };
  } catch (error) {
    throw new HoldfastError('invalid_input', `${file} is not a readable history (${error instanceof Error ? error.message : 'unknown reason'}).`);
  }
}
