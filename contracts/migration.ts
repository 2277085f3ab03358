import { z } from 'zod';
import { userSchema } from './principal.js';
import type { CallRef, ProposalRef } from './steps.js';
import { soundText } from './text.js';

/** What an operator asks for: the definition to move to (absent: the agent's current one), and why (D34). */
export const migrationSchema = z.strictObject({
  to: z.string().regex(/^[0-9a-f]{64}$/, 'must be the digest of a stored definition, 64 hex digits').optional().describe('Digest of a stored definition of the same agent. Absent: the current one'),
  reason: soundText(2000).optional(),
});
export type Migration = z.infer<typeof migrationSchema>;

/** The same as it reaches the turn's workflow. `as` names the principal in `dev` auth. */
export const migrateInputSchema = migrationSchema.extend({ turnId: soundText(1000).min(1), as: userSchema.optional() });
export type MigrateInput = z.input<typeof migrateInputSchema>;

export const migratedSchema = z.object({
  result: z.enum(['migrated', 'already']).describe('already: the turn has this definition, nothing was changed'),
  turnId: z.string(),
  from: z.string(),
  to: z.string(),
  takesEffect: z.enum(['now', 'next_step']).describe('next_step: a step is under way and ends with the meaning that it began with'),
  closed: z.array(z.object({ key: z.string(), name: z.string(), reason: z.string() })).describe('Calls that will not be done; the model is told why'),
  reproposed: z.array(z.object({ approvalId: z.string(), version: z.number().int(), hash: z.string() })).describe('Proposals whose new version needs its own approval (D23)'),
  openChildren: z.array(z.string()).describe('Unfinished turns of child agents; each keeps its own definition until it is migrated itself'),
});
export type Migrated = z.infer<typeof migratedSchema>;

/**
 * `not_started`: it takes the current definition when it begins. `not_running`: no run of its conversation takes it.
 * `unusable_definition`: this build cannot read the asked one. `preview_failed`: a new version of a proposal could not be shown; nothing was changed.
 */
export type MigrateRefusal =
  | 'invalid_input' | 'not_found' | 'turn_finished' | 'not_started' | 'not_running' | 'unknown_definition' | 'foreign_definition' | 'unusable_definition' | 'preview_failed';

export type MigrateAnswer = Migrated | { result: 'refused'; code: MigrateRefusal; message: string };

/** What changes for the workflow: limits of the turn, and calls of its current reply. Part of recorded histories: fields may be added only (D34). */
export interface MigrateResult {
  answer: MigrateAnswer;
  limits: { maxSteps: number; windowSize: number; modelTimeoutMs: number; summaryTiming: 'before_finalize' | 'turn_end' | null } | null;
  /** `ref` null: the call was closed. */
  calls: { key: string; ref: CallRef | null; proposal: ProposalRef | null }[];
}
