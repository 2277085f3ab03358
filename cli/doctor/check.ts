/** Result of one check. `kind` decides the exit code of a problem; `way` says how to get out of it. */
export interface Check {
  name: string;
  ok: boolean;
  found: string;
  way: string | null;
  kind: 'server' | 'configuration' | 'other';
}

export function good(name: string, found: string): Check {
  return { name, ok: true, found, way: null, kind: 'other' };
}

export function bad(name: string, kind: Check['kind'], found: string, way: string): Check {
  return { name, ok: false, found, way, kind };
}

/** 3 when a server is away, else 2 for configuration, else 1, else 0 (document 5). */
export function exitOfChecks(checks: Check[]): 0 | 1 | 2 | 3 {
  const problems = checks.filter((check) => !check.ok);
  if (problems.some((check) => check.kind === 'server')) return 3;
  if (problems.some((check) => check.kind === 'configuration')) return 2;
  return problems.length > 0 ? 1 : 0;
}
