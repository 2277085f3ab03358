import type { Command } from 'commander';
import { addressOf } from '../../client/postgres-errors.js';
import { EXIT } from '../context.js';
import { migrateSchema } from '../migrate-schema.js';
import type { Register } from '../program.js';

export const registerMigrate: Register = (program, run) => {
  program
    .command('migrate')
    .description('Brings the PostgreSQL schema up to date; safe to run again, and from several places at once')
    .addHelpText('after', '\nExample:\n  POSTGRES_ORCH_DSN=postgresql://user:password@host:5432/database holdfast migrate')
    .action((_options: object, command: Command) =>
      run(command, async (context) => {
        const { dsn } = (await context.runtime()).settings.postgres;
        const { applied } = await migrateSchema(dsn);
        context.print([{ applied }], applied.length === 0 ? `${addressOf(dsn)} is up to date` : `applied ${applied.join(', ')} to ${addressOf(dsn)}`);
        return EXIT.done;
      }));
};
