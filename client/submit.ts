import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { z } from 'zod';
import { userSchema } from '../contracts/principal.js';
import { agentNameSchema, isFinal, submitSchema, senderThreadIdSchema, threadIdSchema, type Submit, type TurnStatus } from '../contracts/turn.js';
import { isOwnThread, workflowIdOf } from '../domain/keys.js';
import { sha256Hex } from '../store/hash.js';
import { acceptInput } from '../store/turn/accept.js';
import { agentNames } from '../store/views/agents.js';
import type { TurnRoute } from '../store/views/routes.js';
import { CONVERSATION, WORKFLOW_TASK_TIMEOUT, submitInputUpdate } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { HoldfastError } from './errors.js';
import { freshUpdateId } from './ids.js';
import { parseInput } from './parse.js';

/** What a sender gives. Without `threadId` a new conversation begins, without `requestId` the input cannot be repeated safely (D2). */
export interface SubmitOptions extends Omit<Submit, 'requestId'> {
  agent: string;
  threadId?: string | undefined;
  requestId?: string | undefined;
  as: string;
}

/** `turnId` is the accepted input; `intoTurnId` the turn that works on it, another one when the input joined a running turn (D4). */
export interface Submitted {
  turnId: string;
  intoTurnId: string;
  agent: string;
  threadId: string;
  requestId: string;
  status: TurnStatus;
  repeat: boolean;
}

const addressSchema = z.object({ agent: agentNameSchema, threadId: threadIdSchema });

/**
 * Stores the input, then hands a reference to the conversation in one round trip (D2). A repeat of the same request is answered
 * from PostgreSQL once its turn has ended. A turn whose run was terminated by hand is taken up again where it stood.
 * @throws HoldfastError `invalid_input`, `unknown_agent`, `conflict`, `no_worker`, `unreachable`, `refused`
 */
export async function submit(context: ClientContext, options: SubmitOptions): Promise<Submitted> {
  if (options.threadId !== undefined) parseInput(senderThreadIdSchema, options.threadId, 'The thread');
  return submitTo(context, options);
}

/** Submits into the conversation of a known turn. One of Holdfast's own takes nothing but answers to its questions (D4, D32). */
export async function submitBeside(context: ClientContext, { agent, threadId, status }: TurnRoute, options: Omit<SubmitOptions, 'agent' | 'threadId'>): Promise<Submitted> {
  if (isOwnThread(threadId) && status !== 'waiting_input') throw new HoldfastError('refused', 'The turn is of a child, of detached work, or undoes an effect: it takes an input only while it asks for one.');
  return submitTo(context, { ...options, agent, threadId });
}

async function submitTo(context: ClientContext, options: SubmitOptions): Promise<Submitted> {
  const { agent, threadId: thread, as: name, requestId: request, ...content } = options;
  const as = parseInput(userSchema, name, 'The name of the sender');
  const { threadId } = parseInput(addressSchema, { agent, threadId: thread ?? `thread-${randomUUID()}` }, 'The address of the turn');
  const input = parseInput(submitSchema, { ...content, requestId: request ?? `req-${randomUUID()}` }, 'The input');
  await requireAgent(context, agent);
  const workflowId = workflowIdOf(agent, threadId, sha256Hex);
  const accepted = await acceptInput(context.pool, {
    agent, threadId, requestId: input.requestId, text: input.text, data: input.data, files: input.files, mode: input.mode, requester: as, workflowId,
  });
  if (accepted.kind === 'conflict') {
    throw new HoldfastError('conflict', `Request id ${JSON.stringify(input.requestId)} already belongs to turn ${accepted.turnId} with another input. Use a new request id for a new input.`);
  }
  const base = { turnId: accepted.turnId, agent, threadId, requestId: input.requestId, status: accepted.status, repeat: accepted.kind === 'repeat' };
  if (isFinal(accepted.status)) return { ...base, intoTurnId: accepted.intoTurnId };
  // The server would answer for a terminated run what that run answered to the first id.
  const updateId = base.repeat && !(await isRunning(context, workflowId)) ? freshUpdateId('resume') : accepted.turnId;
  const begun = accepted.status !== 'queued';
  const into = await hand(context, { agent, threadId, workflowId, turnId: begun ? accepted.intoTurnId : accepted.turnId, mode: begun ? 'queue' : input.mode, updateId }).catch((error: unknown) => {
    throw storedOnly(error, base);
  });
  return { ...base, intoTurnId: begun ? accepted.intoTurnId : into };
}

/** The input is stored, but nobody has taken it: only the same request id goes on with it, and its sender may not have chosen one (D2). */
function storedOnly(error: unknown, { turnId, threadId, requestId }: Omit<Submitted, 'intoTurnId'>): unknown {
  if (!(error instanceof HoldfastError) || (error.code !== 'unreachable' && error.code !== 'no_worker')) return error;
  const again = `The input is stored as turn ${turnId} and not begun. Send it again in thread ${JSON.stringify(threadId)} with the request id ${JSON.stringify(requestId)}.`;
  return new HoldfastError(error.code, `${error.message} ${again}`, { cause: error });
}

interface Handed {
  agent: string;
  threadId: string;
  workflowId: string;
  turnId: string;
  mode: 'queue' | 'steer';
  updateId: string;
}

async function hand(context: ClientContext, { agent, threadId, workflowId, turnId, mode, updateId }: Handed): Promise<string> {
  const outcome = await callTemporal(
    context,
    workflowId,
    () =>
      context.temporal.workflow.executeUpdateWithStart(submitInputUpdate, {
        args: [{ turnId, mode }],
        updateId,
        // An operation object is good for one call, so that a retry makes its own.
        startWorkflowOperation: new WithStartWorkflowOperation(CONVERSATION, {
          workflowId, taskQueue: context.taskQueue, args: [{ agent, threadId }],
          workflowIdConflictPolicy: 'USE_EXISTING', workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          // A hashed id does not say whose conversation it is; every run that continues this one keeps the memo (I11).
          memo: { agent, threadId },
        }),
      }),
    { retryClosed: true },
  );
  if (outcome.kind === 'answered') return outcome.value.intoTurnId;
  throw new HoldfastError('refused', outcome.kind === 'refused' ? outcome.message : 'The conversation closed before it took the input. Send it again with the same request id.');
}

async function isRunning(context: ClientContext, workflowId: string): Promise<boolean> {
  const outcome = await callTemporal(context, workflowId, () => context.temporal.workflow.getHandle(workflowId).describe());
  return outcome.kind === 'answered' && outcome.value.status.name === 'RUNNING';
}

/** A misspelt agent is told at once. Before any worker has registered agents nothing is known, and nothing is refused. */
async function requireAgent(context: ClientContext, agent: string): Promise<void> {
  if (context.knownAgents.has(agent)) return;
  const names = await agentNames(context.pool);
  for (const name of names) context.knownAgents.add(name);
  if (names.length > 0 && !names.includes(agent)) {
    throw new HoldfastError('unknown_agent', `There is no agent "${agent}". Agents: ${names.join(', ')}.`);
  }
}
