import type { Json, JsonObject } from '../contracts/json.js';
import type { EntryKind, LedgerState } from '../contracts/ledger.js';
import { isBlank } from './text.js';

/** What the ledger knows about one call, as far as the transcript needs it. */
export interface CallRecord {
  kind: EntryKind;
  name: string;
  state: LedgerState;
  outcome: 'succeeded' | 'failed' | null;
  result: Json;
  externalId: string | null;
  reason: string | null;
  args: Json;
  /** What became of the proposal, when the call needed one. */
  proposal: 'rejected' | 'expired' | null;
}

/** States of a call as the model is told them (D6). */
export type CallStatus = 'succeeded' | 'failed' | 'rejected' | 'expired' | 'cancelled' | 'unknown' | 'conflict' | 'invalid';

export function callStatus(record: Pick<CallRecord, 'state' | 'outcome' | 'proposal'>): CallStatus {
  switch (record.state) {
    case 'succeeded':
    case 'failed':
    case 'conflict':
      return record.state;
    case 'reconciled':
      return record.outcome === 'succeeded' ? 'succeeded' : 'failed';
    case 'cancelled':
      return record.proposal ?? 'cancelled';
    case 'pending':
      return 'cancelled';
    case 'dispatched':
    case 'unknown':
      return 'unknown';
  }
}

const MEANING: Record<Exclude<CallStatus, 'succeeded' | 'invalid'>, string> = {
  failed: 'It was not done.',
  rejected: 'A person rejected it. It was not done.',
  expired: 'Nobody approved it in time. It was not done.',
  cancelled: 'It was cancelled before it began. It was not done.',
  unknown: 'It is not known whether it was done. Do not say that it was, and do not try it again.',
  conflict: 'The same intent exists with other arguments. It was not done.',
};

/** Of a child's call nothing more is said: the child may have caused effects before it ended, and its own text tells them (D28). */
const CHILD_MEANING: Partial<typeof MEANING> = { failed: 'It did not succeed.', cancelled: 'It was cancelled.' };

const EDITED = 'A person edited the arguments before it was done.';

/** States of a call that may have reached its target, so that the model is told with which arguments (D23). */
const SENT: CallStatus[] = ['failed', 'unknown', 'conflict'];

/**
 * The one result that a call has in the transcript (D6): the real result, or a JSON object with `status` and `message`. When
 * other arguments ran than the model asked for, they are named (D23).
 */
export function resultText(record: CallRecord, askedArgs: JsonObject, sameArgs: boolean): string {
  const status = callStatus(record);
  const wasEdited = record.kind === 'effect' && !sameArgs;
  if (status !== 'succeeded') {
    const meaning = meaningOf(record.kind, status);
    const message = record.reason === null ? meaning : `${meaning} ${record.reason}`;
    return JSON.stringify({ status, message, ...(wasEdited && SENT.includes(status) ? { edited: { note: EDITED, asked: askedArgs, tried: record.args } } : {}) });
  }
  const result = record.result ?? (record.externalId === null ? { status } : { status, id: record.externalId });
  if (wasEdited) {
    const edited = { note: EDITED, asked: askedArgs, executed: record.args };
    // The target's own fields stay where they are, so that a reader of results needs no second way to them.
    return JSON.stringify(isObject(result) ? { ...result, edited } : { result, edited });
  }
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  return isBlank(text) ? '(no content)' : text;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function meaningOf(kind: EntryKind, status: Exclude<CallStatus, 'succeeded'>): string {
  if (status === 'invalid') return 'The call was not run.';
  return (kind === 'effect' ? undefined : CHILD_MEANING[status]) ?? MEANING[status];
}

export function invalidText(problem: string): string {
  return JSON.stringify({ status: 'invalid', message: `The call was not run: ${problem}` });
}
