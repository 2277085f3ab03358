/** One thing that is wrong. `where` is the file or "environment", `key` the dotted key or variable, `value` as it may be shown. */
export interface ConfigProblem {
  where: string;
  key: string;
  value?: string | undefined;
  message: string;
}

const MAX_LINES = 20;

/**
 * The configuration cannot be used (I5). The message has one line per problem and never holds a secret;
 * `problems` has them all. The command line ends with exit code 2.
 */
export class ConfigError extends Error {
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(messageOf(problems));
    this.name = 'ConfigError';
  }
}

/** Throws when there is anything to report. */
export function throwProblems(problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The checked value, or `ConfigError`. */
export function must<T>(outcome: { data: T } | { problems: ConfigProblem[] }): T {
  if ('data' in outcome) return outcome.data;
  throw new ConfigError(outcome.problems);
}

function messageOf(problems: readonly ConfigProblem[]): string {
  const lines = problems.slice(0, MAX_LINES).map(({ where, key, value, message }) => `${where}: ${key}${value === undefined ? '' : ` = ${value}`}: ${message}`);
  if (problems.length > MAX_LINES) lines.push(`… and ${problems.length - MAX_LINES} more`);
  return lines.join('\n');
}
