import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { HoldfastClient } from '../client/client.js';
import type { Submitted } from '../client/submit.js';
import { parseDuration } from '../contracts/duration.js';
import { turnSchema, type TurnView } from '../contracts/turn.js';
import type { ApiEnv } from './guard.js';
import { Refused } from './problem.js';
import { body, cancelAnswer, cancelBody, idParams, json, migrateAnswer, migrateBody, problems, submitBody, threadParams, turnsQuery, waitQuery } from './schemas.js';

const accepted = {
  200: json(turnSchema, 'The turn has ended or needs a person, or the request is a repeat'),
  202: json(turnSchema, 'Accepted; the turn goes on'),
  ...problems,
};

const submitRoute = createRoute({
  method: 'post', path: '/v1/agents/{agent}/threads/{thread}/turns', summary: 'Submit an input; `requestId` makes it idempotent (D2)',
  request: { params: threadParams, query: waitQuery, body: body(submitBody) }, responses: accepted,
});
const listRoute = createRoute({
  method: 'get', path: '/v1/turns', summary: 'Turns, newest first',
  request: { query: turnsQuery }, responses: { 200: json(z.array(turnSchema), 'Turns'), ...problems },
});
const showRoute = createRoute({
  method: 'get', path: '/v1/turns/{id}', summary: 'One turn', request: { params: idParams, query: waitQuery }, responses: { 200: json(turnSchema, 'The turn'), ...problems },
});
const cancelRoute = createRoute({
  method: 'post', path: '/v1/turns/{id}/cancel', summary: 'Ask for cancellation (D27)',
  request: { params: idParams, body: body(cancelBody) }, responses: { 200: json(cancelAnswer, 'What became of it'), ...problems },
});
const migrateRoute = createRoute({
  method: 'post', path: '/v1/turns/{id}/migrate', summary: 'Move an unfinished turn to another definition of its agent (D34)',
  request: { params: idParams, body: body(migrateBody) }, responses: { 200: json(migrateAnswer, 'What was changed'), ...problems },
});
const inputRoute = createRoute({
  method: 'post', path: '/v1/turns/{id}/input', summary: 'New input for the conversation of a turn (D4)',
  request: { params: idParams, query: waitQuery, body: body(submitBody) }, responses: accepted,
});

export function turnRoutes(app: OpenAPIHono<ApiEnv>, client: HoldfastClient): void {
  app.openapi(submitRoute, async (c) => {
    const { agent, thread } = c.req.valid('param');
    const submitted = await client.submit({ ...c.req.valid('json'), agent, threadId: thread, as: c.get('principal').user });
    const { turn, settled } = await standing(client, submitted, c.req.valid('query').wait, c.req.raw.signal);
    return c.json(turn, settled ? 200 : 202);
  });
  app.openapi(listRoute, async (c) => c.json(await client.turns(c.req.valid('query')), 200));
  app.openapi(showRoute, async (c) => {
    const { id } = c.req.valid('param');
    const wait = c.req.valid('query').wait;
    if (wait === undefined) return c.json(await client.turn(id), 200);
    return c.json((await client.waitForTurn(id, { timeoutMs: parseDuration(wait) ?? 0, signal: c.req.raw.signal })).turn, 200);
  });
  app.openapi(cancelRoute, async (c) => {
    const answer = await client.cancel(c.req.valid('param').id, { ...c.req.valid('json'), as: c.get('principal').user });
    if (answer.result === 'refused') throw new Refused('refused', answer.message);
    return c.json(answer, 200);
  });
  app.openapi(migrateRoute, async (c) => {
    const answer = await client.migrate(c.req.valid('param').id, { ...c.req.valid('json'), as: c.get('principal').user });
    if (answer.result === 'refused') throw new Refused(answer.code, answer.message);
    return c.json(answer, 200);
  });
  app.openapi(inputRoute, async (c) => {
    const { text, ...rest } = c.req.valid('json');
    const submitted = await client.input(c.req.valid('param').id, text, { ...rest, as: c.get('principal').user });
    const { turn, settled } = await standing(client, submitted, c.req.valid('query').wait, c.req.raw.signal);
    return c.json(turn, settled ? 200 : 202);
  });
}

async function standing(client: HoldfastClient, submitted: Submitted, wait: string | undefined, signal: AbortSignal): Promise<{ turn: TurnView; settled: boolean }> {
  const { turn, why } = await client.waitForTurn(submitted.turnId, { timeoutMs: wait === undefined ? 0 : (parseDuration(wait) ?? 0), signal });
  return { turn, settled: submitted.repeat || why === 'ended' || why === 'person' };
}
