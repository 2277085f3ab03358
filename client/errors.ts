/**
 * Stable codes of errors (document 5). `invalid_input`: nothing was stored. `conflict`: the request id is taken by another
 * input (D2). `unreachable`: a server does not answer. `no_worker`: the servers answer, nobody works. `refused`: the engine said no;
 * refusals of decisions and settlements carry their own code.
 */
export type ErrorCode =
  | 'invalid_input' | 'configuration' | 'conflict' | 'not_found' | 'unknown_agent' | 'refused' | 'unreachable' | 'no_worker' | 'internal';

/** Exit code of the command line for each kind of error (document 5). */
const EXIT: Record<ErrorCode, 1 | 2 | 3> = {
  invalid_input: 2, configuration: 2, conflict: 1, not_found: 1, unknown_agent: 1, refused: 1, unreachable: 3, no_worker: 3, internal: 1,
};

/** An error that a person can act on: the message says what to do. It never carries a secret. */
export class HoldfastError extends Error {
  readonly exitCode: 1 | 2 | 3;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'HoldfastError';
    this.exitCode = EXIT[code];
  }
}

export function notFound(what: string, id: string, list: string): HoldfastError {
  return new HoldfastError('not_found', `There is no ${what} ${JSON.stringify(id.slice(0, 300))}. "holdfast ${list}" shows what there is.`);
}
