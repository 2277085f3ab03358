// A remote agent as a process of its own, made with the official A2A server: `node server.mjs PORT FILE [idempotent]`. Its tasks are in FILE and
// survive a restart. The first word of a message says what it does, see agent.mjs. Control, beside A2A:
//   GET /log       what it began to work on: [{ messageId, contextId, taskId, text }]
//   PUT /faults    { die: true } dies when it has stored the next task, before it answers; { drop: true } answers the next message by closing
//                  the connection; { list: 'empty' | 'none' } lists no tasks, or has no list; { lost: true } begins nothing and closes the connection
//                  { refuse: 401 } answers the next message with this status
//   PUT /release   ends every task that works
//   GET /open      number of tasks that are not ended
import { createServer } from 'node:http';
import { DefaultRequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { agentOf } from './agent.mjs';
import { storeOf } from './store.mjs';

const [port, file, mode] = process.argv.slice(2);
const faults = {};
let wasBusy = false;
const context = (token) => new ServerCallContext({ requestedVersion: '1.0', state: new Map([['token', token]]) });
const store = await storeOf(file, context, () => { if (faults.die) process.kill(process.pid, 'SIGKILL'); });
const agent = agentOf(store);
const url = `http://127.0.0.1:${port}`;
const card = {
  name: 'Remote', description: 'A remote agent', version: '1', provider: undefined, documentationUrl: '', iconUrl: '', capabilities: { streaming: false, pushNotifications: false, extensions: [] },
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [],
};
const handler = new DefaultRequestHandler(card, store, agent);
const transport = new JsonRpcTransportHandler(handler);

async function rpc(request, response, token) {
  if (request.method === 'SendMessage') {
    const { refuse } = faults;
    if (refuse !== undefined) return void (delete faults.refuse, response.writeHead(refuse).end());
    if (faults.lost) return void (delete faults.lost, response.destroy());
    const known = mode === 'idempotent' ? await store.byMessage(request.params.message.messageId) : undefined;
    if (known !== undefined) return json(response, { jsonrpc: '2.0', id: request.id, result: { task: store.toJson(known) } });
  }
  if (request.method === 'ListTasks' && faults.list === 'none') return json(response, { jsonrpc: '2.0', id: request.id, error: { code: -32601, message: 'Method not found' } });
  if (request.method === 'ListTasks' && faults.list === 'empty') return json(response, { jsonrpc: '2.0', id: request.id, result: { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 } });
  if (request.method === 'CancelTask' && agent.isStubborn(request.params.id)) return json(response, { jsonrpc: '2.0', id: request.id, result: store.toJson(await store.load(request.params.id, context())) });
  const answer = await transport.handle(request, context(token));
  if (request.method === 'SendMessage' && faults.drop) return void (delete faults.drop, response.destroy());
  json(response, answer);
}

async function control(request, body, response) {
  const path = `${request.method} ${request.url}`;
  if (path === 'GET /.well-known/agent-card.json') return json(response, card);
  // An agent that is busy at first and asks for more time than anybody has.
  if (path === 'GET /busy/.well-known/agent-card.json') {
    wasBusy ? json(response, card) : response.writeHead(503, { 'retry-after': '99999999' }).end();
    return void (wasBusy = true);
  }
  // A card that names another server.
  if (path === 'GET /elsewhere/.well-known/agent-card.json') return json(response, { ...card, supportedInterfaces: [{ ...card.supportedInterfaces[0], url: 'http://127.0.0.2:9/rpc' }] });
  if (path === 'GET /log') return json(response, store.log());
  if (path === 'GET /open') return json(response, store.open().length);
  if (path === 'PUT /faults') return json(response, Object.assign(faults, JSON.parse(body)));
  if (path === 'PUT /release') return json(response, await agent.release(context()));
  if (path === 'POST /rpc') return rpc(JSON.parse(body), response, request.headers['x-token']);
  response.writeHead(404).end();
}

function json(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  await control(request, body, response).catch((error) => { if (!response.headersSent) response.writeHead(500).end(String(error)); });
});
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
