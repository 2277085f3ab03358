import type { UndoRefusal } from '../contracts/compensation.js';

/** Why an effect cannot be undone now, for people, with what to do next (D29). `detail`: an entry's key, the name of a value, or a reason. */
export function undoRefusalText(code: UndoRefusal, detail: string | null): string {
  switch (code) {
    case 'unknown_entry':
      return 'There is no effect with this key. "holdfast ledger list --kind effect" shows what there is.';
    case 'not_done':
      return 'It is not known to have been done, so there is nothing to undo. Settle it first if its outcome is unknown.';
    case 'already_undone':
      return 'It is undone already.';
    case 'undo_unknown':
      return `It is not known whether an earlier try has undone it. Settle that first: ledger entry ${detail ?? ''}.`;
    case 'no_compensation':
      return 'No effect of the agent undoes it. Declare one with compensates = "…" in the configuration.';
    case 'missing_value':
      return `The arguments of what undoes it ask for {${detail ?? ''}}, which has no value here. See compensation.args in the configuration; undo it by hand.`;
    case 'unusable_definition':
      return `This release cannot read the definition of the turn that did it: ${detail ?? ''}. Ask again with the release that wrote it, or undo it by hand.`;
  }
}
