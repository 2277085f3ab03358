import { BackOff } from './back-off.js';
import type { ClientContext } from './context.js';
import { HoldfastError } from './errors.js';
import { classifyNamespaceError, classifyTemporalError, type TemporalFailure } from './temporal-errors.js';

/** How long one request is tried before its sender is told (D2). */
const PATIENCE_MS = 30_000;

/** Outcome of a call that a workflow answers. */
export type CallOutcome<T> = { kind: 'answered'; value: T } | Extract<TemporalFailure, { kind: 'closed' | 'refused' }>;

/**
 * Makes a call whose repetition is harmless (it carries an id), again and again with back-off while the server is busy or away,
 * for 30 s at most. `to`: the workflow that is called. `retryClosed`: a run that closed under our hands is no answer, the next try starts another one.
 * @throws HoldfastError `unreachable`, `no_worker`, `configuration`
 */
export async function callTemporal<T>(context: ClientContext, to: string, call: () => Promise<T>, options: { retryClosed?: boolean } = {}): Promise<CallOutcome<T>> {
  await context.ready();
  const deadline = Date.now() + PATIENCE_MS;
  const backOff = new BackOff(20, 500);
  for (;;) {
    try {
      return { kind: 'answered', value: await context.lanes.run(to, () => context.temporal.connection.withDeadline(deadline, call)) };
    } catch (error) {
      const failure = classifyTemporalError(error);
      if (failure.kind === 'refused' || (failure.kind === 'closed' && options.retryClosed !== true)) return failure;
      if (failure.kind === 'other' || failure.kind === 'no_namespace' || Date.now() >= deadline - 50) throw toHoldfastError(context, failure, error);
    }
    await backOff.wait(deadline);
  }
}

/** How long a question about the namespace may take. */
const NAMESPACE_MS = 5_000;

/**
 * Temporal answers and has our namespace.
 * @throws HoldfastError `unreachable`, `configuration`
 */
export async function checkTemporal(context: ClientContext): Promise<void> {
  await context.ready();
  const { connection, options: { namespace } } = context.temporal;
  try {
    await connection.withDeadline(Date.now() + NAMESPACE_MS, () => context.temporal.workflowService.describeNamespace({ namespace }));
  } catch (error) {
    const failure = classifyNamespaceError(error, namespace);
    throw failure.kind === 'no_namespace' ? toHoldfastError(context, failure, error) : unreachableTemporal(context.temporalAddress, error);
  }
}

/** The error that the sender sees when a call could not be made in time. */
function toHoldfastError(context: ClientContext, failure: TemporalFailure, cause: unknown): HoldfastError {
  switch (failure.kind) {
    case 'unreachable':
      return unreachableTemporal(context.temporalAddress, cause);
    case 'no_namespace':
      return new HoldfastError('configuration', `Temporal at ${context.temporalAddress} has no namespace "${failure.namespace}". Create it, or set TEMPORAL_NAMESPACE.`, { cause });
    case 'no_answer':
      return new HoldfastError('no_worker', `No worker answered on task queue "${context.taskQueue}" within ${PATIENCE_MS / 1000} s. Start one with "holdfast worker"; sending the same request id again is safe.`, { cause });
    case 'busy':
    case 'closed':
      return new HoldfastError('unreachable', `Temporal at ${context.temporalAddress} did not take the request within ${PATIENCE_MS / 1000} s. Try again with the same request id.`, { cause });
    default:
      return new HoldfastError('internal', `Temporal could not carry out the request: ${cause instanceof Error ? cause.message : 'unknown error'}`, { cause });
  }
}

export function unreachableTemporal(address: string, cause: unknown): HoldfastError {
  return new HoldfastError('unreachable', `Temporal at ${address} cannot be reached. Start the stack with "holdfast dev", or set TEMPORAL_ADDRESS to a running server.`, { cause });
}
