import { z } from 'zod';

/**
 * Why an effect cannot be undone now (D29). `not_done`: it is not known to have been done. `undo_unknown`: it is not known whether an earlier try
 * has undone it. `no_compensation`: its agent declares nothing that does. `missing_value`: an argument of what undoes it has no value.
 * `unusable_definition`: this build cannot read what its turn is pinned to (D34).
 */
export const undoRefusalSchema = z.enum(['unknown_entry', 'not_done', 'already_undone', 'undo_unknown', 'no_compensation', 'missing_value', 'unusable_definition']);
export type UndoRefusal = z.infer<typeof undoRefusalSchema>;
