import type { FinalStatus } from '../contracts/turn.js';
import { callStatus } from './transcript-results.js';
import type { CallRecord } from './transcript-results.js';

/** An effect as a response tells of it (D28). */
export type ToldEffect = Pick<CallRecord, 'name' | 'state' | 'outcome' | 'externalId' | 'proposal'> & {
  /** Its compensation has begun (D29). */
  undoing?: boolean;
};

/**
 * The response of a turn that did not complete. It is written from the ledger, never by the model, so that it says what really
 * happened (D28): effects that are done, effects of which it is not known, and that nothing else was done.
 */
export function closingText(status: FinalStatus, reason: string | null, effects: ToldEffect[]): string {
  const succeeded = effects.filter((effect) => callStatus(effect) === 'succeeded');
  const done = succeeded.filter((effect) => effect.undoing !== true).map(named);
  const undoing = succeeded.filter((effect) => effect.undoing === true).map(named);
  const unknown = effects.filter((effect) => callStatus(effect) === 'unknown').map(named);
  const lines = [opening(status, reason)];
  if (done.length > 0) lines.push(`Already done and not undone: ${done.join(', ')}.`);
  if (undoing.length > 0) lines.push(`Already done, and it has begun to be undone: ${undoing.join(', ')}.`);
  if (unknown.length > 0) lines.push(`Not known whether it was done: ${unknown.join(', ')}. A person has to check.`);
  if (done.length === 0 && undoing.length === 0 && unknown.length === 0) lines.push('Nothing was changed outside.');
  return lines.join(' ');
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

function named(effect: ToldEffect): string {
  return effect.externalId === null ? effect.name : `${effect.name} (${effect.externalId})`;
}
