import type { CallOutcome, LedgerEntryView } from '../contracts/ledger.js';

const CALL: Record<CallOutcome, string> = {
  open: 'no answer is known: it may still be on its way, or its worker has gone',
  succeeded: 'the target confirmed it',
  rejected: 'the target said no: nothing happened',
  not_sent: 'nothing reached the target',
  uncertain: 'no usable answer: it may have had its effect',
  absent: 'a look-up proved later that it had no effect',
};

const FOUND = { found: 'found it', absent: 'did not find it', inconclusive: 'gave no clear answer' };

/** What has happened to an entry, in the order in which it happened, one sentence each: enough for a person to decide on (D15, D16). */
export function eventsOf(entry: Pick<LedgerEntryView, 'attempts' | 'evidence'>): { at: string; text: string }[] {
  const calls = entry.attempts.map(({ at, outcome, note }, index) => ({ at, text: `call ${index + 1} left: ${CALL[outcome]}${said(note)}` }));
  const looks = entry.evidence.map(({ at, by, found, note }) => ({ at, text: found === null ? `${by}: ${note}` : `a look-up (${by}) ${FOUND[found]}${said(note)}` }));
  return [...calls, ...looks].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Where the entry stands, and what follows from that for a person. */
export function standingOfEntry(entry: Pick<LedgerEntryView, 'kind' | 'state' | 'outcome' | 'externalId' | 'attempts'>): string {
  const id = entry.externalId === null ? '' : ` Its id there is ${entry.externalId}.`;
  switch (entry.state) {
    case 'pending':
      return 'Nothing has been sent yet.';
    case 'dispatched':
      return 'A call is on its way, or its answer is being looked for.';
    case 'succeeded':
      return `It was done.${id}`;
    case 'failed':
      return 'It was not done.';
    case 'reconciled':
      return entry.outcome === 'succeeded' ? `It was done: a look-up or a person says so.${id}` : 'It was not done: a look-up or a person says so.';
    case 'cancelled':
      return 'It was cancelled before anything was sent.';
    case 'conflict':
      return 'The target knows the key with other arguments; nothing was done for these.';
    case 'unknown':
      return `It is not known whether it was done. ${counted(entry.attempts.filter(({ outcome }) => outcome === 'open' || outcome === 'uncertain').length)} may have had its effect.`;
  }
}

function counted(calls: number): string {
  return calls === 1 ? 'One call' : `Each of ${calls} calls`;
}

function said(note: string | null): string {
  return note === null || note === '' ? '' : ` (${note})`;
}
