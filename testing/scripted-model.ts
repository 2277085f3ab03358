import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { errorReply, toWire, type WireReply } from './completion.js';
import { playerOf, scriptListSchema, type ChatRequest, type Script } from './script.js';

/** Largest request that is read, in bytes. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** A request as it came. `at`: milliseconds since the epoch. `violations`: why it was refused; empty when it was answered. */
export interface RecordedRequest {
  n: number;
  at: number;
  authorization: string | null;
  body: ChatRequest;
  violations: string[];
}

/** A model that says what a test tells it to say (I14). `url` is the base URL for `provider = "openai_compatible"`. */
export interface ScriptedModel {
  readonly url: string;
  /** Every request since the start, refused ones included. */
  readonly requests: RecordedRequest[];
  /** All that was wrong with requests, and requests the script had no reply for. */
  readonly violations: string[];
  /** Replaces what the model says from now on. */
  script(script: Script): void;
  /** Cuts every open connection and stops. */
  close(): Promise<void>;
}

/** `port`: 0 (default) takes a free one. `check` returns what is wrong with a request body; anything refuses it with status 400. */
export interface ScriptedModelOptions {
  port?: number;
  script?: Script;
  check?: (body: unknown) => string[];
}

/**
 * Starts an OpenAI-compatible server on loopback: `POST /v1/chat/completions`, without streaming. From another process it is controlled by
 * `PUT /script` (a JSON list of rules or replies), `GET /requests` and `GET /violations`. Rejects when the port is taken.
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const model = new ModelServer(options);
  await model.listen(options.port ?? 0);
  return model;
}

class ModelServer implements ScriptedModel {
  url = '';
  readonly requests: RecordedRequest[] = [];
  readonly violations: string[] = [];
  private readonly stopped = new AbortController();
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));
  private readonly check: (body: unknown) => string[];
  private play: ReturnType<typeof playerOf>;

  constructor(options: ScriptedModelOptions) {
    this.check = options.check ?? (() => []);
    this.play = playerOf(options.script ?? []);
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => this.server.once('error', reject).listen(port, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address !== null && typeof address === 'object') this.url = `http://127.0.0.1:${address.port}/v1`;
  }

  script(script: Script): void {
    this.play = playerOf(script);
  }

  async close(): Promise<void> {
    this.stopped.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const reply = await this.route(request, await readBody(request));
      if (reply !== null) response.writeHead(reply.status, reply.headers).end(reply.body);
    } catch (error) {
      if (this.stopped.signal.aborted || response.destroyed) return;
      const { status, headers, body } = errorReply(500, `the script failed: ${error instanceof Error ? error.message : 'unknown error'}`);
      response.writeHead(status, headers).end(body);
    }
  }

  private async route(request: IncomingMessage, body: Buffer): Promise<WireReply | null> {
    const path = `${request.method} ${request.url?.split('?')[0]}`;
    if (path === 'POST /v1/chat/completions') return this.complete(request, body);
    if (path === 'PUT /script') return this.setScript(body);
    if (path === 'GET /requests') return json(this.requests);
    if (path === 'GET /violations') return json(this.violations);
    return errorReply(404, `there is no ${path}; use POST /v1/chat/completions, PUT /script, GET /requests or GET /violations`);
  }

  private setScript(body: Buffer): WireReply {
    const script = scriptListSchema.safeParse(parse(body).value);
    if (!script.success) return errorReply(400, `a script is a JSON list of rules or replies: ${z.prettifyError(script.error)}`);
    this.script(script.data);
    return json({ rules: script.data.length });
  }

  private async complete(request: IncomingMessage, body: Buffer): Promise<WireReply | null> {
    const parsed = parse(body);
    const problems = parsed.problem === null ? this.check(parsed.value) : [parsed.problem];
    const chat: ChatRequest = isChat(parsed.value) ? parsed.value : { messages: [] };
    const n = this.requests.length + 1;
    const recorded: RecordedRequest = { n, at: Date.now(), authorization: request.headers.authorization ?? null, body: chat, violations: problems };
    this.requests.push(recorded);
    if (problems.length > 0) return this.refuse(recorded, problems);
    const reply = await this.play(chat);
    if (reply === undefined) return this.refuse(recorded, ['the script has no reply for this request']);
    if (reply.delayMs !== undefined) await delay(reply.delayMs, undefined, { signal: this.stopped.signal });
    return reply.hang === true ? null : toWire(reply, chat.model ?? 'scripted', n);
  }

  private refuse(recorded: RecordedRequest, problems: string[]): WireReply {
    recorded.violations = problems;
    this.violations.push(...problems.map((problem) => `request ${recorded.n}: ${problem}`));
    return errorReply(400, problems.join('; '));
  }
}

function json(value: unknown): WireReply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function isChat(value: unknown): value is ChatRequest {
  return typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages);
}

function parse(body: Buffer): { value: unknown; problem: string | null } {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)), problem: null };
  } catch {
    return { value: null, problem: 'the body is not JSON in UTF-8' };
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_REQUEST_BYTES) throw new Error(`the request is larger than ${MAX_REQUEST_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
