import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { HoldfastClient } from '../client/client.js';
import { ledgerEntrySchema } from '../contracts/ledger.js';
import type { ApiEnv } from './guard.js';
import { Refused } from './problem.js';
import { body, compensationAnswer, compensationBody, json, keyParams, ledgerQuery, problems, reconcileBody, settleAnswer, settlementBody } from './schemas.js';

const listRoute = createRoute({
  method: 'get', path: '/v1/ledger', summary: 'Ledger entries in order',
  request: { query: ledgerQuery }, responses: { 200: json(z.array(ledgerEntrySchema), 'Entries'), ...problems },
});
const showRoute = createRoute({
  method: 'get', path: '/v1/ledger/{key}', summary: 'One entry with its attempts and evidence',
  request: { params: keyParams }, responses: { 200: json(ledgerEntrySchema, 'The entry'), ...problems },
});
const settleRoute = createRoute({
  method: 'post', path: '/v1/ledger/{key}/settlement', summary: 'Settle an unknown effect against the version that was seen (D16)',
  request: { params: keyParams, body: body(settlementBody) }, responses: { 200: json(settleAnswer, 'What became of it'), ...problems },
});
const reconcileRoute = createRoute({
  method: 'post', path: '/v1/ledger/reconcile', summary: 'Look up one unsettled effect, or all, now (D15)',
  request: { body: body(reconcileBody) }, responses: { 200: json(z.array(ledgerEntrySchema), 'The entries as they stand afterwards'), ...problems },
});

const compensateRoute = createRoute({
  method: 'post', path: '/v1/ledger/{key}/compensation', summary: 'Undo an effect that was done, by the effect that is declared for it (D29)',
  request: { params: keyParams, body: body(compensationBody) }, responses: { 200: json(compensationAnswer, 'The turn that undoes it'), ...problems },
});

export function ledgerRoutes(app: OpenAPIHono<ApiEnv>, client: HoldfastClient): void {
  app.openapi(listRoute, async (c) => {
    const { turn, ...filter } = c.req.valid('query');
    return c.json(await client.ledger({ ...filter, turnId: turn }), 200);
  });
  app.openapi(reconcileRoute, async (c) => c.json(await client.reconcile(c.req.valid('json').key), 200));
  app.openapi(showRoute, async (c) => c.json(await client.ledgerEntry(c.req.valid('param').key), 200));
  app.openapi(compensateRoute, async (c) => {
    const answer = await client.compensate(c.req.valid('param').key, { ...c.req.valid('json'), as: c.get('principal').user });
    if (answer.result === 'refused') throw new Refused(answer.code, answer.message);
    return c.json(answer, 200);
  });
  app.openapi(settleRoute, async (c) => {
    const answer = await client.settle(c.req.valid('param').key, { ...c.req.valid('json'), as: c.get('principal').user });
    if (answer.result === 'refused') throw new Refused(answer.code, answer.message);
    return c.json(answer, 200);
  });
}
