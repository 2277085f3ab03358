import type { Migrated } from '../../contracts/migration.js';
import type { CallMigration } from '../../domain/migration.js';
import { giveUpUnsent } from '../ledger/reconcile.js';
import { failCall } from '../ledger/finish-call.js';
import type { Db } from '../pool.js';
import { createProposal } from '../proposal/create.js';
import type { NewProposal } from '../proposal/create.js';
import type { OpenCall } from './migration-facts.js';

/** One unfinished call and what becomes of it. `proposal`: the new version, when it is proposed anew. */
export interface CallChange {
  call: OpenCall;
  migration: CallMigration;
  proposal: NewProposal | null;
}

/** Carries out what was decided about one call; the caller holds the turn's lock (D34). */
export async function applyCallChange(db: Db, { call, migration, proposal }: CallChange, to: string): Promise<void> {
  switch (migration.do) {
    case 'keep':
      return;
    case 'repin':
      return repin(db, call.key, to);
    case 'propose_anew':
      if (proposal === null) throw new Error(`no new version was made of ${call.key}`);
      await db.query(`update holdfast.proposal set state = 'superseded' where approval_id = $1 and version = $2`, [call.approvalId, call.version]);
      await repin(db, call.key, to);
      await createProposal(db, proposal);
      return;
    case 'close':
      await db.query(`update holdfast.proposal set state = 'cancelled' where key = $1 and state in ('pending', 'approved')`, [call.key]);
      await db.query(`update holdfast.ledger_entry set state = 'cancelled', version = version + 1, reason = $2 where key = $1 and state = 'pending'`, [call.key, migration.reason]);
      return;
    case 'give_up':
      if (call.kind === 'child') await failCall(db, call.key, migration.reason);
      else await giveUpUnsent(db, call.key, migration.reason);
  }
}

async function repin(db: Db, key: string, to: string): Promise<void> {
  await db.query(`update holdfast.ledger_entry set definition_digest = $2, version = version + 1 where key = $1 and definition_digest is distinct from $2`, [key, to]);
}

export interface MigrationRecord extends Pick<Migrated, 'from' | 'to' | 'closed' | 'reproposed'> {
  /** Issued by the workflow: the same one whenever its step runs. */
  id: string;
  turnId: string;
  by: string;
  reason: string | null;
}

/** Pins the turn anew and records who did it, when, from what to what, and why (D34). */
export async function recordMigration(db: Db, record: MigrationRecord): Promise<void> {
  await db.query('update holdfast.turn set definition_digest = $2 where turn_id = $1', [record.turnId, record.to]);
  await db.query(
    'insert into holdfast.turn_migration (id, turn_id, from_digest, to_digest, by, reason, closed, reproposed) values ($1, $2, $3, $4, $5, $6, $7, $8)',
    [record.id, record.turnId, record.from, record.to, record.by, record.reason, JSON.stringify(record.closed), JSON.stringify(record.reproposed)],
  );
}

/** The record of a migration whose step runs again (its answer was lost); null when it was not carried out yet. */
export async function recordedMigration(db: Db, id: string): Promise<Pick<Migrated, 'from' | 'to' | 'closed' | 'reproposed'> | null> {
  const { rows } = await db.query<Pick<Migrated, 'from' | 'to' | 'closed' | 'reproposed'>>(
    'select from_digest as from, to_digest as to, closed, reproposed from holdfast.turn_migration where id = $1', [id],
  );
  return rows[0] ?? null;
}
