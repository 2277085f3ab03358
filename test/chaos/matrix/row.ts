import type { LedgerEntryView, LedgerState } from '../../../contracts/ledger.js';
import { lostStates, rightStates, type Seen } from './kinds.js';
import type { Cut, Fault, Point } from './points.js';
import type { MatrixKind } from './kinds.js';

/** One cell of the matrix (D36). Times in milliseconds; null where the fault takes nothing away from a worker. */
export interface Row {
  effect: string;
  point: Point | Cut;
  fault: Fault;
  /** Requests at the target, and changes that they made. */
  posts: number;
  effects: number;
  duplicates: number;
  losses: number;
  /** As the engine left the entry by itself, before a person settled anything. */
  state: LedgerState;
  /** As long as a frozen worker had not come back. */
  meanwhile: LedgerState | null;
  settleMs: number | null;
  /** From the moment a worker is back until it has the turn's next step in hand. */
  pickupMs: number | null;
}

/** `done`, `not_done`, or null while it is not known. */
export function claimOf({ state, outcome }: Pick<LedgerEntryView, 'state' | 'outcome'>): 'done' | 'not_done' | null {
  if (state === 'succeeded' || outcome === 'succeeded') return 'done';
  return state === 'unknown' || state === 'dispatched' || state === 'pending' ? null : 'not_done';
}

/** A loss is an effect that the ledger calls done and the target does not have, the reverse, or one that comes to no end. */
export function countsOf(entry: LedgerEntryView, seen: Seen): Pick<Row, 'posts' | 'effects' | 'duplicates' | 'losses'> {
  const claim = claimOf(entry);
  const open = entry.state === 'dispatched' || entry.state === 'pending';
  const untrue = (claim === 'done' && seen.effects === 0) || (claim === 'not_done' && seen.effects > 0);
  return { ...seen, duplicates: Math.max(0, seen.effects - 1), losses: open || untrue ? 1 : 0 };
}

/** What is wrong with a cell, in words; empty when it is right. */
export function problemsOf(row: Row, kind: MatrixKind, entry: LedgerEntryView): string[] {
  const where = `${row.fault}, ${row.point}, ${row.effect}`;
  const right = rightStates(kind, row.point, row.fault);
  const calls = entry.attempts.map(({ physicalCallId }) => physicalCallId);
  return [
    ...(row.duplicates > 0 ? [`${where}: ${row.effects} effects of one intent`] : []),
    ...(row.losses > 0 ? [`${where}: the ledger says ${row.state}, the target has ${row.effects} effects`] : []),
    ...(right.includes(entry.state) ? [] : [`${where}: ${row.state}, right is ${right.join(' or ')}`]),
    ...(row.meanwhile === null || lostStates(kind, row.point).includes(row.meanwhile) ? [] : [`${where}: ${row.meanwhile} while the worker was frozen`]),
    ...(new Set(calls).size < calls.length ? [`${where}: a physical call id was used twice`] : []),
  ];
}
