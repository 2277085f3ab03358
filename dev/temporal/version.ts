import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Oldest server that is known to answer update-with-start as Holdfast needs it (D2). */
const OLDEST_SERVER = { major: 1, minor: 28 };

/** What `temporal --version` says. `cli` is `0.0.0-DEV` for one that was built with Go. */
export interface TemporalVersion {
  cli: string;
  server: string;
}

/** Runs `binary --version`. Throws when it does not run, is not the Temporal CLI, or brings a server that is too old. */
export async function checkTemporal(binary: string, env: NodeJS.ProcessEnv): Promise<TemporalVersion> {
  const { stdout } = await run(binary, ['--version'], { env, timeout: 20_000 });
  const match = /temporal version (\S+) \(server (\d+)\.(\d+)([\d.]*)/i.exec(stdout);
  if (match === null) throw new Error(`"${binary} --version" does not answer like the Temporal CLI`);
  const [, cli = '', major = '', minor = '', rest = ''] = match;
  const server = `${major}.${minor}${rest}`;
  const tooOld = Number(major) < OLDEST_SERVER.major || (Number(major) === OLDEST_SERVER.major && Number(minor) < OLDEST_SERVER.minor);
  if (tooOld) throw new Error(`${binary} brings Temporal server ${server}; ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} or newer is needed`);
  return { cli, server };
}
