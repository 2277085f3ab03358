import { isGrpcServiceError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';

/** gRPC status codes by number: the package that names them is Temporal's own dependency, not ours. */
const GRPC = { unknown: 2, deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, failedPrecondition: 9, aborted: 10, internal: 13, unavailable: 14 } as const;

/**
 * What an error of a Temporal call means to us. `closed`: no open run under this id (finished, never there, or it ended while it
 * held our update). `refused`: the workflow said no. `busy`: the same call may be made again. `no_answer`: nobody took it in time.
 */
export type TemporalFailure =
  | { kind: 'closed' }
  | { kind: 'refused'; code: string; message: string }
  | { kind: 'busy' }
  | { kind: 'no_answer' }
  | { kind: 'unreachable' }
  | { kind: 'no_namespace'; namespace: string }
  | { kind: 'other' };

/** The only place that reads errors of the Temporal client. */
export function classifyTemporalError(error: unknown): TemporalFailure {
  if (error instanceof WorkflowUpdateFailedError) return classifyUpdateFailure(error.cause);
  if (error instanceof WorkflowNotFoundError) return { kind: 'closed' };
  if (error instanceof NamespaceNotFoundError) return { kind: 'no_namespace', namespace: error.namespace };
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'no_answer' };
  const code = grpcCode(error);
  if (code === GRPC.deadlineExceeded) return { kind: 'no_answer' };
  if (code === GRPC.notFound) return { kind: 'closed' };
  // A proxy that drops a stream between two requests says "internal".
  if (code === GRPC.unavailable || (code === GRPC.internal && /RST_STREAM|without gRPC status/i.test(messageOf(error)))) return { kind: 'unreachable' };
  if (code === GRPC.failedPrecondition && /already completed|not found/i.test(messageOf(error))) return { kind: 'closed' };
  // A workflow task failed and will be tried again (a worker of another build, or a run that was about to end when this came).
  if (code === GRPC.failedPrecondition && /in failed state|unexpected workflow task failure/i.test(messageOf(error))) return { kind: 'busy' };
  if (code === GRPC.resourceExhausted || code === GRPC.aborted || code === GRPC.unknown) return { kind: 'busy' };
  return { kind: 'other' };
}

/** What an error of a question about a namespace means: the server answers "not found" when it has none of that name. */
export function classifyNamespaceError(error: unknown, namespace: string): TemporalFailure {
  return error instanceof NamespaceNotFoundError || grpcCode(error) === GRPC.notFound ? { kind: 'no_namespace', namespace } : classifyTemporalError(error);
}

function classifyUpdateFailure(cause: unknown): TemporalFailure {
  if (!(cause instanceof ApplicationFailure)) return { kind: 'other' };
  // The server's own words for an update that was accepted by a run which then ended.
  if (cause.type === 'AcceptedUpdateCompletedWorkflow') return { kind: 'closed' };
  // And for one that a worker dropped unseen with a task that it lost (many updates at once): nothing has happened.
  if (cause.type === 'UnprocessedUpdate') return { kind: 'busy' };
  return { kind: 'refused', code: cause.type ?? 'refused', message: cause.message };
}

function grpcCode(error: unknown): number | null {
  for (let e: unknown = error; e instanceof Error; e = e.cause) if (isGrpcServiceError(e)) return e.code;
  return null;
}

function messageOf(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error; e instanceof Error; e = e.cause) parts.push(e.message);
  return parts.join(' ');
}
