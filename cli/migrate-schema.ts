import { translateStoreError } from '../client/postgres-errors.js';
import { migrate } from '../store/migrate.js';

/** Brings the schema up to date; an error says what to do. */
export async function migrateSchema(dsn: string): Promise<{ applied: string[] }> {
  try {
    return await migrate(dsn);
  } catch (error) {
    throw translateStoreError(error, dsn);
  }
}
