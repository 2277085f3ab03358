import type { Command } from 'commander';
import { requireSecrets } from '../../config/secrets.js';
import { EXIT } from '../context.js';
import { createLog } from '../log.js';
import type { Register } from '../program.js';
import { listenForStop } from '../signals.js';

export const registerWorker: Register = (program, run) => {
  program
    .command('worker')
    .description('Runs one worker in the foreground. SIGINT or SIGTERM lets running steps end first; a second one ends at once')
    .addHelpText('after', '\nExample:\n  POSTGRES_ORCH_DSN=postgresql://… TEMPORAL_ADDRESS=temporal:7233 holdfast worker --config holdfast.toml')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const stop = listenForStop(() => context.note('stopping: running steps may end first; a second signal ends at once'), 'exit');
        try {
          const { settings, config, compiled } = await context.runtime();
          requireSecrets(await config(), context.io.env);
          // Says which server is away, or that the schema or the namespace is missing, before the worker would.
          await (await context.client()).check();
          const log = createLog({ level: settings.logLevel, readable: !context.globals.json });
          // Only here, because loading a worker takes longer than most commands run.
          const { runWorker } = await import('../../worker/run.js');
          const worker = await runWorker({ settings, compiled: await compiled(), log, secrets: (name) => context.io.env[name] });
          stop.ready();
          context.print([{ ready: true, pid: process.pid }], 'worker ready');
          await Promise.race([worker.done, stop.received()]);
          await worker.stop();
          return EXIT.done;
        } finally {
          stop.dispose();
        }
      }));
};
