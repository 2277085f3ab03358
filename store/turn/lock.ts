/**
 * The one order in which every transaction takes row locks, so that none can wait for another that waits for it (D27, D31):
 *
 * 1. `turn`, the root first and then the one turn that is meant (a cancel: every turn of the tree, under the lock of the root);
 * 2. `proposal`; 3. `ledger_entry`; 4. `budget`, from the root down (what a call has used is settled at the commit, after all entries);
 * 5. `thread`, for the numbers of its messages.
 *
 * A turn is locked `for share` by what must not pass its cancel or its end, and `for no key update` by those two: rows that refer to a turn are
 * added beside either. An effect in the ledger's own database (D18) locks its entry only, which orders it against the end of its turn.
 *
 * `lockedRoot`: a part `root` for the `with` of a statement that goes on to lock a turn of that root. `turnId` is SQL: a parameter or a query.
 */
export function lockedRoot(turnId: string): string {
  return `root as materialized (
    select r.turn_id, r.agent, r.thread_id, r.cancel_requested_at from holdfast.turn r where r.turn_id = (select m.root_turn_id from holdfast.turn m where m.turn_id = ${turnId}) for share
  )`;
}
