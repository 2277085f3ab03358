const MAX_SHOWN = 80;

/**
 * An offending value as a message may show it: on one line, clipped; undefined when there is nothing to show or when it
 * may be a secret that somebody put in the wrong place.
 */
export function showValue(key: string, value: unknown): string | undefined {
  if (value === undefined || maySecret(key)) return undefined;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  const text = typeof value === 'string' ? JSON.stringify(hideInUrl(value.toWellFormed())) : String(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

/** Whether a key or variable of this name holds, or is likely to be given, a secret. */
export function maySecret(key: string): boolean {
  return /secret|passw|token|api_?key|_env\b|_dsn\b/i.test(key);
}

/** A URL without its password and without its query, which may hold tokens. */
function hideInUrl(text: string): string {
  return text.includes('://') ? text.replace(/:\/\/[^/@]*@/, '://***@').replace(/\?.*$/s, '?…') : text;
}
