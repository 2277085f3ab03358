import { z } from 'zod';
import { cancelSignalSchema, decideSignalSchema, inputSignalSchema, settleSignalSchema } from '../contracts/signals.js';
import type { CancelInput, ConversationRef, DecideInput, InputRef, SettleInput } from '../contracts/steps.js';
import { acceptInput } from '../store/turn/accept.js';
import { recordRefusal } from '../store/refusal.js';
import type { Refusal } from '../store/refusal.js';
import type { ActivityDeps } from './deps.js';

/**
 * Signals sent by hand carry anything (D5). They are checked here, so that a malformed one is refused and kept in `refusal` instead of
 * failing the workflow. Each answers null when there is nothing to do: it was refused, or is a repeat.
 */
export interface ByHand {
  /** The signal, issued by its workflow: the same one whenever its step runs. */
  id: string;
  workflowId: string;
  payload: unknown;
}

export async function acceptSignalInput(deps: ActivityDeps, input: ByHand & { conversation: ConversationRef }): Promise<InputRef | null> {
  const parsed = await check(deps, 'input', inputSignalSchema, input);
  if (parsed === null) return null;
  const { as, requestId, ...content } = parsed;
  const accepted = await acceptInput(deps.pool, {
    ...input.conversation, text: content.text, mode: content.mode, requestId: requestId ?? `signal-${input.id}`, requester: deps.principal(as).user,
    workflowId: input.workflowId, ...(content.data === undefined ? {} : { data: content.data }), ...(content.files === undefined ? {} : { files: content.files }),
  });
  if (accepted.kind === 'conflict') {
    await noteRefusal(deps, { ...input, kind: 'input', message: `the request id ${requestId ?? ''} was already used with other content` });
    return null;
  }
  // What a turn has taken up, or has ended, is not taken a second time.
  return accepted.status === 'queued' ? { turnId: accepted.turnId, mode: content.mode } : null;
}

export async function checkDecideSignal(deps: ActivityDeps, input: ByHand): Promise<DecideInput | null> {
  const parsed = await check(deps, 'decide', decideSignalSchema, input);
  if (parsed === null) return null;
  const { args, ...rest } = parsed;
  return args === undefined ? { ...rest } : { ...rest, argsJson: JSON.stringify(args) };
}

export async function checkCancelSignal(deps: ActivityDeps, input: ByHand): Promise<CancelInput | null> {
  return check(deps, 'cancel', cancelSignalSchema, input);
}

export async function checkSettleSignal(deps: ActivityDeps, input: ByHand): Promise<SettleInput | null> {
  return check(deps, 'settle', settleSignalSchema, input);
}

/** Keeps a refusal of something sent by a signal, which cannot be answered. */
export async function noteRefusal(deps: ActivityDeps, { id, workflowId, kind, message }: Refusal): Promise<void> {
  deps.log.warn({ workflowId, kind }, `a signal was refused: ${message}`);
  await recordRefusal(deps.pool, { id, workflowId, kind, message: message.slice(0, 2000) });
}

async function check<T>(deps: ActivityDeps, kind: string, schema: z.ZodType<T>, input: ByHand): Promise<T | null> {
  const parsed = schema.safeParse(input.payload);
  if (parsed.success) return parsed.data;
  await noteRefusal(deps, { ...input, kind, message: z.prettifyError(parsed.error) });
  return null;
}
