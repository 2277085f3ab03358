import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { HoldfastClient } from '../client/client.js';
import { jsonObjectSchema } from '../contracts/json.js';
import type { ApiEnv } from './guard.js';
import { json, problems } from './schemas.js';

/** One line of the capability table: what the target offers and what follows from it, in words (D19). */
export const capabilityLineSchema = z.object({ agent: z.string(), effect: z.string(), capabilities: jsonObjectSchema, guarantees: jsonObjectSchema });

/** Makes the capability table from the current definitions; passed in, because adapters are not the API's business. */
export type CapabilityLines = () => Promise<z.infer<typeof capabilityLineSchema>[]>;

const healthSchema = z.object({ status: z.literal('ok') });

const healthRoute = createRoute({ method: 'get', path: '/healthz', summary: 'The process answers', responses: { 200: json(healthSchema, 'Alive') } });
const readyRoute = createRoute({
  method: 'get', path: '/readyz', summary: 'PostgreSQL and Temporal answer', responses: { 200: json(healthSchema, 'Ready'), ...problems },
});
const capabilitiesRoute = createRoute({
  method: 'get', path: '/v1/capabilities', summary: 'What each effect can guarantee (D19)',
  responses: { 200: json(z.array(capabilityLineSchema), 'The capability table'), ...problems },
});

export function metaRoutes(app: OpenAPIHono<ApiEnv>, client: HoldfastClient, capabilities: CapabilityLines): void {
  app.openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(readyRoute, async (c) => {
    await client.check();
    return c.json({ status: 'ok' as const }, 200);
  });
  app.openapi(capabilitiesRoute, async (c) => c.json(await capabilities(), 200));
}
