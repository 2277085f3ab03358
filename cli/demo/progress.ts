import type { ApprovalView, LedgerEntryView } from '../../client/index.js';
import { formatDiff } from '../format-approval.js';
import { indent, inline } from '../text.js';

const KIND: Record<LedgerEntryView['kind'], string> = {
  model: 'model call', child: 'child agent', summary: 'summary', effect: 'effect', input: 'question',
};

/** Says each change of the ledger once, in the order in which it appears. */
export class Progress {
  private readonly seen = new Map<string, string>();

  constructor(private readonly say: (line: string) => void) {}

  ledger(entries: LedgerEntryView[]): void {
    for (const entry of entries) {
      const state = entry.outcome === null ? entry.state : `${entry.state} (${entry.outcome})`;
      if (this.seen.get(entry.key) === state) continue;
      this.seen.set(entry.key, state);
      const id = entry.externalId === null ? '' : `, external id ${inline(entry.externalId, 40)}`;
      this.say(`  ${KIND[entry.kind].padEnd(12)} ${inline(entry.effect, 24).padEnd(14)} ${state}${id}`);
    }
  }

  proposal(approval: ApprovalView): void {
    this.say(`  proposal     ${inline(approval.effect, 24).padEnd(14)} waits for a person until ${approval.expiresAt}; before → after:`);
    this.say(indent(indent(indent(formatDiff(approval.diff)))));
  }

  decision(approver: string, hash: string): void {
    this.say(`  approval     recorded: approved by "${approver}" for hash ${hash.slice(0, 12)}…`);
    this.say('               (a demo: this program decided, in your place. In your own use a person does.)');
  }
}
