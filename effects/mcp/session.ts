import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { McpTarget } from '../../contracts/effect.js';
import type { JsonObject } from '../../contracts/json.js';
import { callTool, listTools, type ListedTool, type ToolAnswer } from './calls.js';
import { reasonOf } from './failure.js';
import { guardedFetch } from './http-fetch.js';
import { createMask, type Mask } from './mask.js';

/** `secrets` gives the value of an environment variable by name; `fetch` may be replaced, for instance to go through a proxy. */
export interface McpContext {
  secrets: (envName: string) => string | undefined;
  fetch: typeof fetch;
}

/** An open connection to one server. Calls may overlap. */
export interface Session {
  mask: Mask;
  /** The tool as the server lists it; undefined when it has none of this name. Throws when the server cannot be asked. */
  tool(name: string, signal: AbortSignal): Promise<ListedTool | undefined>;
  /** One `tools/call`, never repeated. Throws what `failure.ts` can judge. */
  call(name: string, args: JsonObject, options: { signal: AbortSignal; timeoutMs?: number }): Promise<ToolAnswer>;
  /** Throws when the server does not answer within 3 s. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The server cannot be reached or started, or a secret is not set; nothing of a call has been sent. Its message holds no secret. */
export class SessionProblem extends Error {}

/** A server may have to be installed by its command first. */
const CONNECT_TIMEOUT_MS = 30_000;
const GOODBYE_MS = 1000;
const PING_MS = 3000;
const STDERR_CHARS = 500;
const CLIENT_INFO = { name: 'holdfast', version: '0.1.0' };

/** Connects to a server and makes itself known. Throws `SessionProblem`. `onclose` is called when the connection has ended; `stopping` ends the attempt. */
export async function openSession(context: McpContext, server: McpTarget['server'], onclose: () => void, stopping: AbortSignal): Promise<Session> {
  const { transport, mask, said, goodbye } = 'command' in server ? programTransport(context, server) : httpTransport(context, server);
  const client = new Client(CLIENT_INFO);
  client.onclose = onclose;
  const giveUp = (): void => void client.close();
  stopping.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS });
  } catch (error) {
    await client.close().catch(() => undefined);
    throw new SessionProblem(mask.text(`the MCP server cannot be reached: ${reasonOf(error)}${said()}`));
  } finally {
    stopping.removeEventListener('abort', giveUp);
  }
  let tools: Map<string, ListedTool> | null = null;
  return {
    mask,
    tool: async (name, signal) => {
      // A name that is not there may be new; the list is read again before it is called unknown.
      if (tools?.has(name) !== true) tools = await listTools(client, signal);
      return tools.get(name);
    },
    call: (name, args, options) => callTool(client, name, args, options),
    ping: async () => void (await client.ping({ timeout: PING_MS })),
    close: async () => {
      await goodbye();
      await client.close();
    },
  };
}

interface Wire {
  transport: Transport;
  mask: Mask;
  /** What a program wrote to its standard error, for a message. */
  said(): string;
  goodbye(): Promise<void>;
}

/** The program gets what every program needs (PATH, HOME and the like) and the named variables, nothing else. It ends when its input closes. */
function programTransport(context: McpContext, server: Extract<McpTarget['server'], { command: string }>): Wire {
  const env = Object.fromEntries(server.env.map((name) => [name, secretOf(context, name, 'its program needs it')]));
  const transport = new StdioClientTransport({ command: server.command, args: server.args, env, stderr: 'pipe' });
  // It ends the program by its id: its input closes, SIGTERM after 2 s, SIGKILL after 2 more. Everybody who asks waits for the same end.
  const end = transport.close.bind(transport);
  let ending: Promise<void> | null = null;
  transport.close = () => (ending ??= end());
  const mask = createMask(Object.values(env));
  let tail = '';
  transport.stderr?.on('data', (chunk: Buffer) => { tail = `${tail}${chunk.toString()}`.slice(-STDERR_CHARS); });
  const said = (): string => (tail.trim() === '' ? '' : `; it said: ${tail.trim()}`);
  return { transport, mask, said, goodbye: async () => undefined };
}

function httpTransport(context: McpContext, server: Extract<McpTarget['server'], { url: string }>): Wire {
  const headers: Record<string, string> = {};
  for (const [name, envName] of Object.entries(server.headersEnv)) headers[name] = secretOf(context, envName, `header ${name} needs it`);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: guardedFetch(context.fetch), requestInit: { headers },
    // A stream is never taken up again: whether the call had its effect is asked by a look-up, not by the SDK.
    reconnectionOptions: { maxRetries: 0, initialReconnectionDelay: 1000, maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 1 },
  });
  // A server that does not answer must not hold up a worker that stops.
  const goodbye = (): Promise<void> => Promise.race([transport.terminateSession(), new Promise<void>((resolve) => { setTimeout(resolve, GOODBYE_MS).unref(); })]).catch(() => undefined);
  return { transport, mask: createMask(Object.values(headers)), said: () => '', goodbye };
}

function secretOf(context: McpContext, envName: string, why: string): string {
  const value = context.secrets(envName);
  if (value === undefined || value === '') throw new SessionProblem(`environment variable ${envName} is not set; ${why}`);
  return value;
}
