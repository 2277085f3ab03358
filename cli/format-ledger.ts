import type { LedgerEntryView } from '../client/index.js';
import type { Guarantees } from '../domain/capabilities.js';
import { eventsOf, standingOfEntry } from '../domain/entry-story.js';
import { inline, oneLine, printable, shellWord, table } from './text.js';

function stateOf(entry: Pick<LedgerEntryView, 'state' | 'outcome'>): string {
  return entry.outcome === null ? entry.state : `${entry.state} (${entry.outcome})`;
}

export function formatLedger(entries: LedgerEntryView[]): string {
  if (entries.length === 0) return 'no entries';
  return table(
    ['key', 'kind', 'name', 'state', 'version', 'attempts', 'external id'],
    entries.map((e) => [e.key, e.kind, e.effect, stateOf(e), String(e.version), String(e.attempts.length), inline(e.externalId ?? '–', 40)]),
  );
}

/**
 * One entry as a story: where it stands, what happened in order, what its target guarantees, and what can be done (D15, D16). `guarantees`: of
 * its effect, where one is known.
 */
export function formatLedgerEntry(entry: LedgerEntryView, guarantees: Guarantees | null = null): string {
  const lines = [
    `${entry.kind} ${printable(entry.effect)}  ${stateOf(entry)}`,
    ...(entry.kind === 'effect' ? [`  ${printable(standingOfEntry(entry))}`] : []),
    `  key ${printable(entry.key)} · version ${entry.version} · generation ${entry.generation} · turn ${printable(entry.turnId)}`,
    `  external id ${inline(entry.externalId ?? '–', 200)}`,
    `  arguments ${inline(entry.args, 500)}`,
  ];
  if (entry.result !== null) lines.push(`  result ${inline(entry.result, 500)}`);
  if (entry.reason !== null) lines.push(`  reason ${inline(entry.reason, 500)}`);
  const events = eventsOf(entry);
  if (events.length > 0) lines.push('  what happened', ...events.map(({ at, text }) => `    ${at}  ${oneLine(text, 300)}`));
  if (entry.attempts.length > 0) lines.push(`  physical calls ${entry.attempts.map(({ physicalCallId }) => printable(physicalCallId)).join(', ')}`);
  if (guarantees !== null) lines.push('  what its target guarantees', `    after a lost answer: ${guarantees.afterCrash}`, `    twice? ${guarantees.duplicates}`, `    look-up: ${guarantees.lookup}`);
  if (entry.kind === 'effect' && entry.state === 'unknown') lines.push('', ...settleCommands(entry));
  return lines.join('\n');
}

/** What a person can do about an effect whose outcome is unknown (D16). */
export function settleCommands(entry: Pick<LedgerEntryView, 'key' | 'version'>): string[] {
  const settle = `  holdfast ledger settle ${shellWord(entry.key)} --version ${entry.version} --outcome`;
  return [
    'next: look at the target yourself, then',
    `  holdfast ledger reconcile ${shellWord(entry.key)}`,
    `${settle} succeeded --external-id ID --reason "…"`,
    `${settle} failed --reason "…"`,
    `${settle} retry --reason "…"`,
  ];
}
