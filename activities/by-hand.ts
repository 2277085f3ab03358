import { z } from 'zod';
import { cancelSignalSchema, decideSignalSchema, inputSignalSchema, settleSignalSchema } from '../contracts/signals.js';
import type { CancelInput, ConversationRef, DecideInput, InputRef, SettleInput } from '../contracts/steps.js';
import { acceptInput } from '../store/turn/accept.js';
import { recordRefusal } from '../store/refusal.js';
import type { ActivityDeps } from './deps.js';

/**
 * Signals sent by hand carry anything (D5). They are checked here, so that a malformed one is refused and kept in `refusal` instead of
 * failing the workflow. Each answers null when there is nothing
 * to do: it was refused, or is a repeat.
 */
export interface ByHand {
  workflowId: string;
  payload: unknown;
}

export async function acceptSignalInput(deps: ActivityDeps, input: ByHand & { conversation: ConversationRef; fallbackId: string }): Promise<InputRef | null> {
  const parsed = await check(deps, 'input', inputSignalSchema, input);
  if (parsed === null) return null;
  const { as, requestId, ...content } = parsed;
  const accepted = await acceptInput(deps.pool, {
    ...input.conversation, text: content.text, mode: content.mode, requestId: requestId ?? input.fallbackId, requester: deps.principal(as).user,
    workflowId: input.workflowId, ...(content.data === undefined ? {} : { data: content.data }), ...(content.files === undefined ? {} : { files: content.files }),
  });
  if (accepted.kind === 'conflict') {
    await refuse(deps, input.workflowId, 'input', `the request id ${requestId ?? ''} was already used with other content`);
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
export async function noteRefusal(deps: ActivityDeps, input: { workflowId: string; kind: string; message: string }): Promise<void> {
  await refuse(deps, input.workflowId, input.kind, input.message);
}

async function check<T>(deps: ActivityDeps, kind: string, schema: z.ZodType<T>, input: ByHand): Promise<T | null> {
  const parsed = schema.safeParse(input.payload);
  if (parsed.success) return parsed.data;
  await refuse(deps, input.workflowId, kind, z.prettifyError(parsed.error));
  return null;
}

async function refuse(deps: ActivityDeps, workflowId: string, kind: string, message: string): Promise<void> {
  deps.log.warn({ workflowId, kind }, `a signal was refused: ${message}`);
  await recordRefusal(deps.pool, workflowId, kind, message.slice(0, 2000));
}
