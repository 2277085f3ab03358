import type { PostgresEffect } from '../../contracts/effect.js';
import type { EffectAdapter } from '../types.js';
import type { PostgresContext } from './database.js';
import { lookupPostgres } from './lookup.js';
import { performPostgres } from './perform.js';
import { preconditionPostgres, previewPostgres } from './questions.js';

/** Effects that are one statement in a PostgreSQL database of the application (D18, D20). docs/effects.md says which end means what. */
export function createPostgresAdapter(context: PostgresContext): EffectAdapter<PostgresEffect> {
  return {
    perform: (call, signal, ledger) => performPostgres(context, call, signal, ledger),
    lookup: (call, signal) => lookupPostgres(context, call, signal),
    preview: (call, signal) => previewPostgres(context, call, signal),
    precondition: (call, signal) => preconditionPostgres(context, call, signal),
  };
}
