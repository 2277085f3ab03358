import type { LedgerEntryView } from '../client/index.js';
import { indent, inline, printable, shellWord, table } from './text.js';

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

/** One entry with everything that was tried and found out about it. */
export function formatLedgerEntry(entry: LedgerEntryView): string {
  const lines = [
    `${entry.kind} ${printable(entry.effect)}  ${stateOf(entry)}`,
    `  key ${printable(entry.key)} · version ${entry.version} · generation ${entry.generation} · turn ${printable(entry.turnId)}`,
    `  external id ${inline(entry.externalId ?? '–', 200)}`,
    `  arguments ${inline(entry.args, 500)}`,
  ];
  if (entry.result !== null) lines.push(`  result ${inline(entry.result, 500)}`);
  if (entry.reason !== null) lines.push(`  reason ${inline(entry.reason, 500)}`);
  if (entry.attempts.length > 0) {
    lines.push('  attempts', indent(indent(table(['at', 'physical call', 'outcome', 'note'], entry.attempts.map((a) => [a.at, a.physicalCallId, a.outcome, inline(a.note ?? '', 100)])))));
  }
  if (entry.evidence.length > 0) {
    lines.push('  evidence', indent(indent(table(['at', 'by', 'found', 'note'], entry.evidence.map((v) => [v.at, v.by, v.found ?? '–', inline(v.note, 100)])))));
  }
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
