import { OpenAPIHono } from '@hono/zod-openapi';
import type { HoldfastClient } from '../client/client.js';
import { devPrincipal, jsonOnly, limitedBody, loopbackOnly, type ApiEnv } from './guard.js';
import { isForClient, problem, problemOf } from './problem.js';
import { approvalRoutes } from './routes-approvals.js';
import { ledgerRoutes } from './routes-ledger.js';
import { metaRoutes, type CapabilityLines } from './routes-meta.js';
import { turnRoutes } from './routes-turns.js';

export interface AppOptions {
  client: HoldfastClient;
  capabilities: CapabilityLines;
  /** Told of every error that is not an answer. */
  onError: (error: unknown, request: { method: string; path: string }) => void;
}

/** Where a value of a request stands, in the words of OpenAPI. */
const PLACE: Record<string, string> = { json: 'body', param: 'path' };

/** The HTTP interface (document 5) as a fetch handler; the same zod contracts check requests and make /openapi.json. */
export function createApp(options: AppOptions): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result, c) => {
      if (result.success) return undefined;
      const issues = result.error.issues.slice(0, 5).map((issue) => `${[PLACE[result.target] ?? result.target, ...issue.path.map(String)].join('.')}: ${issue.message}`);
      return problem(c, 'invalid_input', issues.join('; '));
    },
  });
  app.use(loopbackOnly, jsonOnly, limitedBody, devPrincipal);
  metaRoutes(app, options.client, options.capabilities);
  turnRoutes(app, options.client);
  approvalRoutes(app, options.client);
  ledgerRoutes(app, options.client);
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'Holdfast', version: '1', description: 'Durable agentic turns. In dev auth the header X-Holdfast-User names who acts.' },
  });
  app.notFound((c) => problem(c, 'no_such_route', 'There is nothing here. /openapi.json lists every route.'));
  app.onError((error, c) => {
    // Hono's own errors for a body that is not JSON.
    if ('status' in error && error.status === 400) return problem(c, 'invalid_input', 'The body is not valid JSON.');
    if (!isForClient(error)) options.onError(error, { method: c.req.method, path: c.req.path });
    return problemOf(c, error);
  });
  return app;
}
