import { z } from 'zod';
import { decisionSchema } from './approval.js';
import { settlementSchema } from './ledger.js';
import { submitSchema } from './turn.js';

/**
 * Payloads of the signals that a person or any SDK may send by hand (I11). They are checked in an activity, so that
 * a malformed one is refused and recorded instead of failing the workflow. `as` names the principal in `dev` auth.
 */
const as = z.string().trim().min(1).max(200).optional();

export const inputSignalSchema = submitSchema.partial({ requestId: true }).extend({ as });
export const decideSignalSchema = decisionSchema.extend({ approvalId: z.string().min(1), as });
export const cancelSignalSchema = z.strictObject({ turnId: z.string().min(1).optional(), reason: z.string().max(2000).optional(), as });
export const settleSignalSchema = settlementSchema.extend({ key: z.string().min(1), as });

export type InputSignal = z.input<typeof inputSignalSchema>;
export type DecideSignal = z.input<typeof decideSignalSchema>;
export type CancelSignal = z.input<typeof cancelSignalSchema>;
export type SettleSignal = z.input<typeof settleSignalSchema>;
