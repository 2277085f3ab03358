import type { CancelAnswer, CancelInput } from '../contracts/steps.js';
import { cancelQueued } from '../store/views/cancel-queued.js';
import { turnRoute } from '../store/views/routes.js';
import { requestCancelUpdate } from '../workflows/messages.js';
import { callTemporal } from './call-temporal.js';
import type { ClientContext } from './context.js';
import { notFound } from './errors.js';
import { freshUpdateId } from './ids.js';

/**
 * Asks for a turn's cancellation (D27). The turn has ended only when its status says so.
 * @throws HoldfastError `not_found`, `no_worker`, `unreachable`
 */
export async function cancel(context: ClientContext, turnId: string, options: { reason?: string | undefined; as: string }): Promise<CancelAnswer> {
  const route = await turnRoute(context.pool, turnId);
  if (route === null) throw notFound('turn', turnId, 'turn list');
  if (route.ended) return { result: 'already_ended', turnId: route.turnId, status: route.status };
  const message: CancelInput = { turnId: route.turnId, as: options.as, ...(options.reason === undefined ? {} : { reason: options.reason }) };
  const id = freshUpdateId('cancel');
  const handle = context.temporal.workflow.getHandle(route.workflowId);
  const outcome = await callTemporal(context, route.workflowId, () => handle.executeUpdate(requestCancelUpdate, { args: [message], updateId: id }));
  if (outcome.kind === 'answered') return outcome.value;
  if (outcome.kind === 'refused') return { result: 'refused', message: outcome.message };
  return cancelWithoutRun(context, route.turnId, options.reason);
}

/** No run is open: either the turn has ended meanwhile, or it was stored and never taken up. */
async function cancelWithoutRun(context: ClientContext, turnId: string, reason: string | undefined): Promise<CancelAnswer> {
  if (await cancelQueued(context.pool, turnId, reason ?? 'cancelled')) return { result: 'cancelling', turnId, status: 'cancelled' };
  const now = await turnRoute(context.pool, turnId);
  if (now?.ended === true) return { result: 'already_ended', turnId, status: now.status };
  return { result: 'refused', message: `The workflow of turn ${turnId} is not running, although the turn has not ended. Send its request again (the same request id) to resume it, then cancel.` };
}
