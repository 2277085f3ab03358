import { z } from 'zod';
import { jsonSchema, jsonObjectSchema } from './json.js';
import { soundText } from './text.js';

/** `superseded`: an edit or a new policy made a newer version (D23). */
export const approvalStateSchema = z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled', 'superseded']);
export type ApprovalState = z.infer<typeof approvalStateSchema>;

/** One line of the human-readable difference: `before` is null where nothing is known or nothing was there. */
export const diffLineSchema = z.object({ field: z.string(), before: jsonSchema, after: jsonSchema });
export type DiffLine = z.infer<typeof diffLineSchema>;

/** A proposal as JSON (document 5). `hash` names this version and nothing else (D21, D22). */
export const approvalSchema = z.object({
  id: z.string(),
  key: z.string().describe('Ledger key of the effect'),
  turnId: z.string(),
  threadId: z.string(),
  agent: z.string(),
  hash: z.string(),
  version: z.number().int(),
  effect: z.string(),
  args: jsonObjectSchema,
  diff: z.array(diffLineSchema),
  expiresAt: z.string(),
  state: approvalStateSchema,
  approvers: z.number().int(),
  roles: z.array(z.string()),
  decisions: z.array(z.object({ by: z.string(), decision: z.enum(['approve', 'reject']), at: z.string(), reason: z.string().nullable() })),
});
export type ApprovalView = z.infer<typeof approvalSchema>;

export const decisionSchema = z.strictObject({
  hash: soundText(200).min(1),
  decision: z.enum(['approve', 'reject', 'edit']),
  args: jsonObjectSchema.optional().describe('New arguments; only with "edit"'),
  reason: soundText(2000).optional(),
});
export type Decision = z.infer<typeof decisionSchema>;

/**
 * Answer to a decision. `recorded`: counted, others still needed (four eyes). `edited`: a new version with a new hash
 * waits for its own approval. A repeat of a person's decision gets the same answer again.
 */
export type DecisionAnswer =
  | { result: 'approved' | 'rejected' | 'recorded'; approvalId: string; version: number; hash: string }
  | { result: 'edited'; approvalId: string; version: number; hash: string }
  | { result: 'refused'; code: DecisionRefusal; message: string };

export type DecisionRefusal =
  | 'unknown_approval' | 'wrong_hash' | 'expired' | 'already_decided' | 'turn_finished' | 'not_permitted' | 'invalid_edit' | 'invalid_input';
