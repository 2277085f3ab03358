import { z } from 'zod';
import { approvalSchema } from './approval.js';
import { exactJsonSchema, jsonSchema } from './json.js';
import { ledgerStateSchema } from './ledger.js';
import { soundText } from './text.js';

const FINAL = ['completed', 'cancelled', 'failed', 'rejected', 'budget_exceeded', 'expired'] as const;

export const turnStatusSchema = z.enum([
  'queued', 'working', 'waiting_approval', 'waiting_input', 'waiting_review', 'waiting_unknown', 'cancelling', 'needs_migration', ...FINAL,
]);
export type TurnStatus = z.infer<typeof turnStatusSchema>;
export type FinalStatus = (typeof FINAL)[number];

/** Whether a turn with this status has ended; it never changes again (D31). */
export function isFinal(status: TurnStatus): status is FinalStatus {
  return (FINAL as readonly TurnStatus[]).includes(status);
}

/** Longest accepted text of an input, in UTF-16 code units. */
export const MAX_INPUT_CHARS = 4_000_000;

const idText = (max: number) => soundText(max).min(1);

export const fileRefSchema = z.strictObject({ id: idText(300), name: z.string().max(300), mime: z.string().max(200), size: z.number().int().min(0) });

export const inputModeSchema = z.enum(['queue', 'steer']);
export type InputMode = z.infer<typeof inputModeSchema>;

/** What a sender submits. `requestId` makes it idempotent within (agent, thread) (D2). */
export const submitSchema = z.strictObject({
  requestId: idText(200),
  text: z.string().max(MAX_INPUT_CHARS),
  data: exactJsonSchema.optional(),
  files: z.array(fileRefSchema).max(50).optional(),
  mode: inputModeSchema.default('queue').describe('queue: the next turn; steer: handed to the running turn at its next model call (D4)'),
});
export type Submit = z.input<typeof submitSchema>;

export const agentNameSchema = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'letters, digits, "_" and "-", at most 64, starting with a letter');
/** A thread, also one of Holdfast's own. */
export const threadIdSchema = idText(500);
/** A thread that a sender names. Those that begin with "~" are of children, of detached work, and of what undoes effects: nobody submits into them. */
export const senderThreadIdSchema = threadIdSchema.refine((id) => !id.startsWith('~'), { error: 'must not begin with "~": such threads are Holdfast\'s own' });

/** A turn as JSON (document 5). Money is in US dollars; `costUsd` is null where no price is known. */
export const turnSchema = z.object({
  turnId: z.string(),
  agent: z.string(),
  threadId: z.string(),
  requestId: z.string(),
  workflowId: z.string(),
  status: turnStatusSchema,
  text: z.string().nullable(),
  reason: z.string().nullable().describe('Named reason of an end that is not "completed", or what is being waited for'),
  effects: z.array(z.object({
    key: z.string(), effect: z.string(), state: ledgerStateSchema, outcome: z.enum(['succeeded', 'failed']).nullable(),
    externalId: z.string().nullable(), args: jsonSchema,
  })),
  approvals: z.array(approvalSchema),
  usage: z.object({
    modelCalls: z.number().int(), inputTokens: z.number().int(), outputTokens: z.number().int(),
    costUsd: z.number().nullable(), effects: z.number().int(),
  }),
  steps: z.number().int(),
  detached: z.array(z.object({ turnId: z.string(), kind: z.enum(['work', 'compensation']), status: turnStatusSchema, key: z.string() }))
    .describe('Turns that it has begun and that go on by themselves (D29, D30); `key`: the call that began it, or the effect that it undoes'),
  owner: z.string().nullable().describe('The turn that began this one, when it goes on by itself'),
  definition: z.string().nullable().describe('Digest of the agent, prompt, tools, policy and model that the turn is pinned to; null before it has begun (D34)'),
});
export type TurnView = z.infer<typeof turnSchema>;
