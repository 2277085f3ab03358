import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '../../client/index.js';
import { startServer, type ServerProcess } from '../../dev/process.js';

/** The external system of the sample, as a process of its own. */
export interface BookingServer {
  url: string;
  stop(): Promise<void>;
}

const START_MS = 10_000;

/** Starts `examples/booking/server.mjs` on a free port; its reservations are kept in `file`, whose folder exists. It ends with this process. */
export async function startBookingServer(file: string): Promise<BookingServer> {
  const server = await startServer({
    name: 'booking server', command: process.execPath, args: [await scriptPath(), '--port', '0', '--file', file],
    env: process.env, signal: 'TERM', owner: null, logFile: null, scratch: null,
  });
  try {
    return { url: await address(server), stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The script lies beside the sources and beside the build. */
async function scriptPath(): Promise<string> {
  for (const place of ['../../examples/booking/server.mjs', '../../../examples/booking/server.mjs']) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (await access(path).then(() => true, () => false)) return path;
  }
  throw new HoldfastError('configuration', 'examples/booking/server.mjs is missing, so the demo has nothing to book at. Run "holdfast dev" without --demo.');
}

/** The address that the server prints when it is ready. */
function address(server: ServerProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new HoldfastError('configuration', `The booking server of the demo did not start: ${why}. ${server.output()}`));
    };
    const timer = setTimeout(() => fail(`no address within ${START_MS / 1000} s`), START_MS);
    const look = () => {
      const url = /^booking server: (http:\S+)$/m.exec(server.output())?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    server.onOutput(look);
    void server.exited.then((how) => fail(`it ended with ${how}`));
    look();
  });
}
