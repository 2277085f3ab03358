import { z } from 'zod';
import { decisionSchema } from './approval.js';
import { settlementSchema } from './ledger.js';
import { userSchema } from './principal.js';
import { soundText } from './text.js';
import { submitSchema } from './turn.js';

/**
 * Payloads of the signals that a person or any SDK may send by hand (I11). They are checked in an activity, so that
 * a malformed one is refused and recorded instead of failing the workflow. `as` names the principal in `dev` auth.
 */
const as = userSchema.optional();
const id = soundText(1000).min(1);

export const inputSignalSchema = submitSchema.partial({ requestId: true }).extend({ as });
export const decideSignalSchema = decisionSchema.extend({
  approvalId: id, as, argsJson: z.string().optional().describe('The new arguments as text, instead of `args`'), workflowId: id.optional().describe('Set by the workflow'),
});
export const cancelSignalSchema = z.strictObject({ turnId: id.optional(), reason: soundText(2000).optional(), as });
export const settleSignalSchema = settlementSchema.extend({ key: id, as });

export type InputSignal = z.input<typeof inputSignalSchema>;
export type DecideSignal = z.input<typeof decideSignalSchema>;
export type CancelSignal = z.input<typeof cancelSignalSchema>;
export type SettleSignal = z.input<typeof settleSignalSchema>;
