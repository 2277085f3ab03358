import type { Command } from 'commander';
import { capabilityLines } from '../capability-lines.js';
import { EXIT } from '../context.js';
import { createLog } from '../log.js';
import type { Register } from '../program.js';
import { listenForStop } from '../signals.js';

export const registerApi: Register = (program, run) => {
  program
    .command('api')
    .description('Serves the HTTP API (HOLDFAST_API_HOST, HOLDFAST_API_PORT)')
    .addHelpText('after', '\nExample:\n  HOLDFAST_API_PORT=9000 holdfast api')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const stop = listenForStop(() => context.note('stopping; a second signal ends at once'), 'exit');
        try {
          const { settings } = await context.runtime();
          const client = await context.client();
          // Says that the schema is missing before a request would.
          await client.turns({ limit: 1 });
          const log = createLog({ level: settings.logLevel, readable: !context.globals.json });
          const { startApi } = await import('../../api/start.js');
          const api = await startApi({ host: settings.api.host, port: settings.api.port, client, capabilities: () => capabilityLines(client), log });
          stop.ready();
          context.print([{ ready: true, pid: process.pid, url: api.url }], `api ready at ${api.url}`);
          await stop.received();
          await api.close();
          return EXIT.done;
        } finally {
          stop.dispose();
        }
      }));
};
