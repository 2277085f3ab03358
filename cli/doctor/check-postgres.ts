import { HoldfastError } from '../../client/index.js';
import { addressOf, translateStoreError } from '../../client/postgres-errors.js';
import { migrationNames } from '../../store/migrate.js';
import { createPool } from '../../store/pool.js';
import { serverState } from '../../store/views/server.js';
import { bad, good, type Check } from './check.js';

const LEAST_MAJOR = 14;

/** Is PostgreSQL there, new enough, and does it have this build's schema? */
export async function checkPostgres(dsn: string): Promise<Check[]> {
  const pool = createPool({ dsn, max: 1 });
  try {
    const { version, applied } = await serverState(pool);
    const missing = (await migrationNames()).filter((name) => !applied.includes(name));
    const server = Number.parseInt(version, 10) >= LEAST_MAJOR
      ? good('postgresql', `${version} at ${addressOf(dsn)}`)
      : bad('postgresql', 'other', `${version} at ${addressOf(dsn)}`, `use PostgreSQL ${LEAST_MAJOR} or newer`);
    const schema = missing.length === 0 ? good('schema', `up to date (${applied.length} applied)`) : bad('schema', 'other', `missing: ${missing.join(', ')}`, 'run "holdfast migrate"');
    return [server, schema];
  } catch (error) {
    const known = translateStoreError(error, dsn);
    const found = known instanceof Error ? known.message : String(known);
    return [bad('postgresql', known instanceof HoldfastError && known.code !== 'unreachable' ? 'other' : 'server', found, 'start it ("holdfast dev") or set POSTGRES_ORCH_DSN')];
  } finally {
    await pool.end();
  }
}
