import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { HoldfastClient } from '../client/client.js';
import { approvalSchema } from '../contracts/approval.js';
import { parseArguments } from '../domain/arguments.js';
import type { ApiEnv } from './guard.js';
import { Refused } from './problem.js';
import { approvalsQuery, body, decisionAnswer, decisionBody, idParams, json, problems } from './schemas.js';

const listRoute = createRoute({
  method: 'get', path: '/v1/approvals', summary: 'Proposals in one state (default: pending), oldest first',
  request: { query: approvalsQuery }, responses: { 200: json(z.array(approvalSchema), 'Proposals'), ...problems },
});
const showRoute = createRoute({
  method: 'get', path: '/v1/approvals/{id}', summary: 'The latest version of a proposal',
  request: { params: idParams }, responses: { 200: json(approvalSchema, 'The proposal'), ...problems },
});
const decideRoute = createRoute({
  method: 'post', path: '/v1/approvals/{id}/decisions', summary: 'Approve, reject or edit the version with this hash (D22, D23)',
  request: { params: idParams, body: body(decisionBody) }, responses: { 200: json(decisionAnswer, 'What became of it'), ...problems },
});

export function approvalRoutes(app: OpenAPIHono<ApiEnv>, client: HoldfastClient): void {
  app.openapi(listRoute, async (c) => {
    const { thread, state, limit } = c.req.valid('query');
    return c.json(await client.approvals({ threadId: thread, state, limit }), 200);
  });
  app.openapi(showRoute, async (c) => c.json(await client.approval(c.req.valid('param').id), 200));
  app.openapi(decideRoute, async (c) => {
    const decision = c.req.valid('json');
    if (decision.args !== undefined) await requireExactNumbers(() => c.req.text());
    const answer = await client.decide(c.req.valid('param').id, { ...decision, as: c.get('principal').user });
    if (answer.result === 'refused') throw new Refused(answer.code, answer.message);
    return c.json(answer, 200);
  });
}

/** An ordinary JSON reader would change an integer beyond 2^53 in an edit without a word (D14). */
async function requireExactNumbers(body: () => Promise<string>): Promise<void> {
  const read = parseArguments(await body());
  if (!read.ok) throw new Refused('invalid_edit', read.problem);
}
