import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { principalSchema, type Principal } from '../contracts/principal.js';
import { problem } from './problem.js';

/** Values that the guards put into a request's context. */
export interface ApiEnv {
  Variables: { principal: Principal };
}

/** Largest request body in bytes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** True for a host name or address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/**
 * In `dev` auth nobody proves who they are, so that only this machine may ask (I9): a foreign Host is a rebound DNS name, a foreign
 * Origin is another site's page in a browser on this machine.
 */
export const loopbackOnly = createMiddleware<ApiEnv>(async (c, next) => {
  if (!isLoopback(hostOf(`http://${c.req.header('host') ?? ''}`))) return problem(c, 'foreign_host', 'In dev auth the API answers to loopback host names only.');
  const origin = c.req.header('origin');
  if (origin !== undefined && !isLoopback(hostOf(origin))) return problem(c, 'foreign_origin', 'In dev auth the API does not answer to pages of other sites.');
  return next();
});

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return '';
  }
}

/** The principal is named by a header and holds every role: `dev` auth only (I9). */
export const devPrincipal = createMiddleware<ApiEnv>(async (c, next) => {
  const named = principalSchema.safeParse({ user: c.req.header('x-holdfast-user') ?? 'dev', roles: ['caller', 'approver', 'operator', 'admin'] });
  if (!named.success) return problem(c, 'invalid_input', 'The header X-Holdfast-User must be a name of 1 to 200 characters.');
  c.set('principal', named.data);
  return next();
});

/** Bodies are JSON. This also keeps out forms that a browser sends across sites without asking. */
export const jsonOnly = createMiddleware<ApiEnv>(async (c, next) => {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (c.req.method === 'POST' && type !== 'application/json') return problem(c, 'unsupported_media_type', 'Send JSON with "Content-Type: application/json".');
  return next();
});

export const limitedBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: (c) => problem(c, 'too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`),
});
