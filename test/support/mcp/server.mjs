// A real MCP server with a memory of its own, over stdio, or over HTTP with --http. Everything it did is in FOLDER: effects.jsonl (one line for
// each effect), calls.jsonl (one for each call that arrived), pids (one for each process). FOLDER/faults.json says what goes wrong with the next calls.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const [folder, mode, transport] = process.argv.slice(2);
const at = (name) => join(folder, name);
const lines = (name) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)) : []);
const faults = () => (existsSync(at('faults.json')) ? JSON.parse(readFileSync(at('faults.json'), 'utf8')) : {});
appendFileSync(at('pids'), `${process.pid}\n`);

let dropConnections = () => process.exit(1);
const responses = new Set();
const endResponses = () => responses.forEach((response) => response.end());

/** Takes a fault that strikes once; `only` leaves it alone when it has another value. */
function takeFault(name, only) {
  const { [name]: value, ...rest } = faults();
  if (value === undefined || (only !== undefined && value !== only)) return undefined;
  writeFileSync(at('faults.json.new'), JSON.stringify(rest));
  renameSync(at('faults.json.new'), at('faults.json'));
  return value;
}

const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], ...(typeof value === 'object' && value !== null && !Array.isArray(value) ? { structuredContent: value } : {}) });

async function reserve(args, { signal, sendNotification }) {
  appendFileSync(at('calls.jsonl'), `${JSON.stringify({ tool: 'reserve', args, env: Object.keys(process.env) })}\n`);
  if (takeFault('die', 'before') !== undefined) await gone();
  // A program that hangs reads nothing any more, not even that its input has ended, and hears no SIGTERM.
  if (takeFault('hang') !== undefined) {
    process.on('SIGTERM', () => undefined);
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  }
  while (faults().stall === true && !signal.aborted) await wait(10);
  if (signal.aborted) {
    appendFileSync(at('calls.jsonl'), `${JSON.stringify({ tool: 'cancelled', args, env: [] })}\n`);
    return answer(null);
  }
  const refusal = takeFault('error');
  if (refusal !== undefined) return { content: [{ type: 'text', text: JSON.stringify(refusal) }], isError: true };
  const known = mode.includes('keys') ? lines('effects.jsonl').find((effect) => effect.key !== undefined && effect.key === args.key) : undefined;
  if (known !== undefined && (known.people !== args.people || known.date !== args.date)) return { ...answer({ code: 'idempotency_mismatch' }), isError: true };
  const made = known ?? { id: `R-${randomUUID().slice(0, 8)}`, ...args };
  if (known === undefined) appendFileSync(at('effects.jsonl'), `${JSON.stringify(made)}\n`);
  if (takeFault('die', 'after') !== undefined) await gone();
  if (takeFault('die', 'in_stream') !== undefined) {
    // The stream has begun by now, and then it ends in order, without the answer.
    await sendNotification({ method: 'notifications/progress', params: { progressToken: 'none', progress: 1 } });
    while (![...responses].some((response) => response.headersSent)) await wait(5);
    endResponses();
    await new Promise(() => undefined);
  }
  const other = takeFault('answer');
  return other ?? answer(made);
}

/** The process or the connection ends, and the call has no answer. */
async function gone() {
  dropConnections();
  await new Promise(() => undefined);
}

async function find({ key }, { requestId }) {
  const fault = faults().lookup;
  if (fault === 'broken') {
    // The official server would not send it.
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: requestId, result: { content: 'done' } })}\n`);
    await new Promise(() => undefined);
  }
  const all = lines('effects.jsonl').filter((effect) => effect.key === key || effect.reference === key);
  const odd = { fail: { ...answer('down'), isError: true }, garbage: { content: [{ type: 'text', text: '<html>' }] }, many: answer([{ id: 'a' }, { id: 'b' }]), no_id: answer([{ ok: true }]), nothing: { content: [] }, other: answer([{ id: 'a', key: 'another' }]), null: answer(null), words: answer({ found: false }) };
  return fault === undefined ? answer({ result: all }) : odd[fault];
}

function createMcp() {
  const server = new McpServer({ name: 'booking', version: '1' });
  const input = { date: z.string(), people: z.number().int(), key: z.string().optional(), reference: z.string().optional() };
  const idempotentHint = !(faults().hints === 'contrary');
  server.registerTool('reserve', { description: 'Reserve a table', inputSchema: input, annotations: { idempotentHint, readOnlyHint: false } }, reserve);
  server.registerTool('find', { description: 'Find a reservation', inputSchema: { key: z.string() }, annotations: { readOnlyHint: true } }, find);
  server.registerTool('echo', { description: 'Says a secret', inputSchema: { date: z.string(), people: z.number().int() } }, () => ({ content: [{ type: 'text', text: `it is ${process.env.SHOP_TOKEN}` }] }));
  return server;
}

async function overHttp() {
  const sessions = new Map();
  const server = createServer((request, response) => void handle(request, response));
  async function handle(request, response) {
    responses.add(response.on('close', () => responses.delete(response)));
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = body === '' ? undefined : JSON.parse(body);
    if (faults().forget === true && message?.method === 'tools/call' && takeFault('forget') !== undefined) sessions.clear();
    const status = message?.method === 'tools/call' ? takeFault('status') : undefined;
    if (status !== undefined) return void response.writeHead(status, { location: '/mcp' }).end();
    let session = sessions.get(request.headers['mcp-session-id']);
    if (session === undefined && !isInitializeRequest(message)) return void response.writeHead(404).end();
    if (session === undefined) {
      session = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => void sessions.set(id, session), enableJsonResponse: mode.includes('json') });
      await createMcp().connect(session);
    }
    await session.handleRequest(request, response, message);
  }
  dropConnections = () => server.closeAllConnections();
  server.listen(0, '127.0.0.1', () => process.stdout.write(`mcp server: http://127.0.0.1:${server.address().port}/mcp\n`));
}

if (transport === '--http') await overHttp();
else {
  process.stdin.on('end', () => process.exit(0));
  if (faults().start === 'fail') {
    process.stderr.write('no licence file\n');
    process.exit(3);
  }
  if (faults().noise === true) process.stdout.write('this is no message\n');
  await createMcp().connect(new StdioServerTransport());
}
