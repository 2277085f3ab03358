import type { FinalStatus } from '../contracts/turn.js';
import { callStatus } from './transcript-results.js';
import type { CallRecord } from './transcript-results.js';

/** An effect as a response tells of it (D28). */
export type ToldEffect = Pick<CallRecord, 'name' | 'state' | 'outcome' | 'externalId' | 'proposal'> & {
  /** What has become of undoing it, where that was begun (D29): it is being done, was done, or it is not known whether it was done. */
  undo: 'undoing' | 'undone' | 'unknown' | null;
};

/**
 * The response of a turn that did not complete. It is written from the ledger, never by the model, so that it says what really
 * happened (D28): effects that are done, effects of which it is not known, and that nothing else was done.
 */
export function closingText(status: FinalStatus, reason: string | null, effects: ToldEffect[]): string {
  const known = (wanted: string, undo?: ToldEffect['undo']): string =>
    effects.filter((effect) => callStatus(effect) === wanted && (undo === undefined || effect.undo === undo)).map((effect) => named(effect.name, effect.externalId)).join(', ');
  const told = [
    ['Already done and not undone', known('succeeded', null), '.'],
    ['Already done, and it has begun to be undone', known('succeeded', 'undoing'), '.'],
    ['Done, and undone again', known('succeeded', 'undone'), '.'],
    ['Done, and it is not known whether it was undone', known('succeeded', 'unknown'), '. A person has to check.'],
    ['Not known whether it was done', known('unknown'), '. A person has to check.'],
  ].flatMap(([what, names, end]) => (names === '' ? [] : [`${what}: ${names}${end}`]));
  return [opening(status, reason), ...(told.length > 0 ? told : ['Nothing was changed outside.'])].join(' ');
}

/** How a turn that undoes an effect ended: by the ledger, not by how its turn ended (D28, D29). */
export interface UndoEnd extends Pick<CallRecord, 'name' | 'state' | 'outcome' | 'externalId' | 'reason' | 'proposal'> {
  /** The effect that was to be undone, and its external id. */
  undone: string;
  undoneId: string | null;
}

/** The response of a turn that undoes an effect. */
export function undoingText(status: FinalStatus, why: string | null, end: UndoEnd): string {
  return status === 'completed' || status === 'failed' ? undoTruth(end) : `${opening(status, why)} ${undoTruth(end)}`;
}

/** What is known of the effect now, in one sentence or two. */
export function undoTruth(end: UndoEnd): string {
  const target = named(end.undone, end.undoneId);
  const status = callStatus(end);
  if (status === 'succeeded') return `${target} was undone by ${named(end.name, end.externalId)}.`;
  if (status === 'unknown') return `It is not known whether ${target} was undone by ${end.name}. A person has to check.`;
  const why = status === 'rejected' ? 'a person rejected it' : status === 'expired' ? 'nobody approved it in time' : end.reason;
  return `${target} is not undone${why === null ? '' : `: ${why.replace(/\.$/, '')}`}.`;
}

function opening(status: FinalStatus, reason: string | null): string {
  const because = reason === null ? '' : ` (${reason})`;
  switch (status) {
    case 'cancelled':
      return `The request was cancelled${because}.`;
    case 'rejected':
      return `The answer was held back by a review${because}.`;
    case 'budget_exceeded':
      return `The request was stopped at its budget${because}.`;
    case 'expired':
      return `The request ran out of time${because}.`;
    default:
      return `The request could not be completed${because}.`;
  }
}

function named(name: string, externalId: string | null): string {
  return externalId === null ? name : `${name} (${externalId})`;
}
