import type { PostgresEffect } from '../../contracts/effect.js';
import type { EffectCall, LookupResult } from '../types.js';
import { dsnOf, DsnProblem } from './database.js';
import type { PostgresContext } from './database.js';
import { sqlMessage } from './sql-error.js';

const NOTES = {
  busy: 'a transaction with this key is under way',
  no_table: 'the database has no table holdfast_effect: no effect was ever begun in it, or it is not the right one',
} as const;

/**
 * Looks for the marker of the key (D13). In the ledger's own database nobody has to be asked: the change and its record are one commit, so an
 * entry that is still open had no effect, and taking it over ends a call that may still be under way (D17, D18).
 */
export async function lookupPostgres(context: PostgresContext, call: EffectCall<PostgresEffect>, signal: AbortSignal): Promise<LookupResult> {
  const { effect, key } = call;
  if (effect.lookup === null) return inconclusive('this effect has no look-up');
  if (effect.postgres.dsnEnv === null) return { kind: 'absent', note: 'the change and its ledger record are one transaction, and the entry is still open' };
  try {
    const attempt = await context.databases.find(dsnOf(context, effect), key, { timeoutMs: effect.timeoutMs, signal });
    if (attempt.kind !== 'ended') return inconclusive(`the marker could not be looked up: ${sqlMessage(attempt.error)}`);
    const found = attempt.value;
    if (found.kind === 'found') return { ...found, note: 'its marker is there' };
    return found.kind === 'absent' ? { kind: 'absent', note: 'there is no marker of this key, and no transaction with it is under way' } : inconclusive(NOTES[found.kind]);
  } catch (error) {
    if (error instanceof DsnProblem) return inconclusive(error.message);
    throw error;
  }
}

function inconclusive(note: string): LookupResult {
  return { kind: 'inconclusive', note };
}
