/**
 * A part of the development stack cannot be used. `message` says what was tried and what would fix it.
 * `exitCode`: 2 wrong usage or configuration, 3 a server cannot be reached (document 5, command line).
 */
export class StackError extends Error {
  constructor(
    message: string,
    readonly exitCode: 2 | 3 = 3,
  ) {
    super(message);
    this.name = 'StackError';
  }
}

/** First line that a person needs of anything thrown. */
export function reasonOf(error: unknown): string {
  // A host with several addresses fails once for each, and says nothing of its own.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
