import { rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { onPath } from '../../dev/on-path.js';
import { onFreePorts } from '../../dev/ports.js';
import { postgresOwner } from '../../dev/postgres/owner.js';
import { scratchHome } from '../../dev/postgres/place.js';
import { startServer } from '../../dev/process.js';
import { waitFor } from './wait.js';

/** Path of PgBouncer, or null on a machine without it. Debian installs it outside of a user's PATH. */
export const PGBOUNCER = await onPath('pgbouncer', { PATH: [process.env.PATH ?? '', '/usr/sbin'].join(delimiter) });

export interface Pooler {
  /** The administrative address by way of the pooler; other databases of the server are reached by their names. */
  dsn: string;
  stop(): Promise<void>;
}

/** A real PgBouncer in transaction mode in front of the server of `dsn`, with at most `size` connections to each of its databases. */
export async function startPgBouncer(binary: string, dsn: string, size: number): Promise<Pooler> {
  const server = new URL(dsn);
  const owner = await postgresOwner(null);
  const folder = await scratchHome(owner);
  const config = join(folder, 'pgbouncer.ini');
  return onFreePorts(1, async ([port = 0]) => {
    await writeFile(config, [
      '[databases]', `* = host=${server.hostname} port=${server.port} user=${server.username} password=${decodeURIComponent(server.password)}`,
      '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction', `default_pool_size = ${size}`,
      'max_client_conn = 500', 'server_login_retry = 1', '',
    ].join('\n'));
    const pooler = await startServer({
      name: 'PgBouncer', command: binary, args: [config], env: process.env, signal: 'INT', owner, logFile: null, scratch: folder,
    });
    await waitFor(() => {
      if (pooler.hasExited()) throw new Error(`PgBouncer ended: ${pooler.output()}`);
      return Promise.resolve(pooler.output().includes('process up'));
    }, { what: 'PgBouncer to be up' });
    const address = new URL(dsn);
    address.port = String(port);
    return {
      dsn: address.href,
      stop: async () => {
        await pooler.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  });
}
