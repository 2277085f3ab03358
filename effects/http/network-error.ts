/**
 * Errors that arise before a connection can carry a request: nothing has reached the target (D10). Certificate errors belong here,
 * because the request is written only after the handshake. A reset or "closed" is not here: it may come after the request.
 */
const BEFORE_ANY_BYTE = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
  'FETCH_BAD_PORT', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const MAX_NESTING = 5;

/** True when every cause of a failed `fetch` is one that arises before the first byte. */
export function neverSent(error: unknown): boolean {
  const codes = leafCodes(error, MAX_NESTING);
  return codes.length > 0 && codes.every((code) => BEFORE_ANY_BYTE.has(code));
}

/** A short reason without addresses or contents. */
export function networkReason(error: unknown): string {
  const codes = [...new Set(leafCodes(error, MAX_NESTING))].filter((code) => code !== '');
  if (codes.length > 0) return codes.join(', ');
  return error instanceof Error ? error.name : 'network error';
}

/** Codes at the ends of the chain; a connection to a host with several addresses fails with an AggregateError that holds one for each. */
function leafCodes(error: unknown, depth: number): string[] {
  if (depth === 0 || !(error instanceof Error)) return [''];
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap((inner) => leafCodes(inner, depth - 1));
  if (error.cause !== undefined) return leafCodes(error.cause, depth - 1);
  // The fetch standard refuses some ports (for instance 1 and 6000) itself; that error has no code.
  if (error.message === 'bad port') return ['FETCH_BAD_PORT'];
  return ['code' in error && typeof error.code === 'string' ? error.code : ''];
}
