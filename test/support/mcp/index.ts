import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { McpEffect, McpTarget } from '../../../contracts/effect.js';
import type { Json, JsonObject } from '../../../contracts/json.js';
import { waitFor } from '../wait.js';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));

/** `keys`: acts once per key; `lookup`: has the tool `find`; `json`: answers over HTTP as plain JSON instead of a stream. */
export interface McpFaults {
  /** `in_stream`: over HTTP, the answer's stream ends in order after the effect, without the answer. */
  die?: 'before' | 'after' | 'in_stream';
  stall?: boolean;
  /** The program stops for ever in the middle of the next call, and does not end when it is asked to. */
  hang?: true;
  /** Over HTTP, the server forgets its sessions when the next call comes. */
  forget?: true;
  error?: Json;
  /** A whole tool result instead of the right one, after the effect. */
  answer?: Json;
  status?: number;
  lookup?: 'broken' | 'fail' | 'garbage' | 'many' | 'no_id' | 'nothing' | 'other' | 'null' | 'words';
  hints?: 'contrary';
  start?: 'fail';
  noise?: boolean;
}

export interface McpWorld {
  server: McpTarget['server'];
  folder: string;
  setFaults(faults: McpFaults): void;
  effects(): (JsonObject & { id: string })[];
  calls(): { tool: string; args: JsonObject; env: string[] }[];
  arrived(count: number): Promise<unknown>;
  /** Server processes that still live. */
  living(): number[];
  /** Ends the HTTP server and starts it anew, without its sessions, on another port. */
  stop(): Promise<void>;
}

/** A booking system behind an MCP server, over stdio (started by whoever connects) or over HTTP (a process of its own). */
export async function startMcp(transport: 'stdio' | 'http', mode = 'keys,lookup'): Promise<McpWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-'));
  const program = transport === 'http' ? spawn(process.execPath, [SERVER, folder, mode, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] }) : null;
  const lines = (name: string): string[] => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').split('\n').filter((line) => line !== '') : []);
  const calls: McpWorld['calls'] = () => lines('calls.jsonl').map((line) => JSON.parse(line) as ReturnType<McpWorld['calls']>[number]);
  return {
    folder,
    server: program === null ? { command: process.execPath, args: [SERVER, folder, mode], env: [] } : { url: await addressOf(program), headersEnv: {} },
    setFaults: (faults) => {
      writeFileSync(join(folder, 'faults.json.set'), JSON.stringify(faults));
      renameSync(join(folder, 'faults.json.set'), join(folder, 'faults.json'));
    },
    effects: () => lines('effects.jsonl').map((line) => JSON.parse(line) as JsonObject & { id: string }),
    calls,
    arrived: (count) => waitFor(async () => calls().length >= count, { what: `${count} calls to arrive` }),
    living: () => lines('pids').map(Number).filter(lives),
    stop: async () => {
      if (program !== null && program.exitCode === null && program.signalCode === null) {
        program.kill('SIGKILL');
        await once(program, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The effect `reserve` at such a server, with every capability; `change` replaces parts of it. */
export function reserveTool(server: McpTarget['server'], change: Partial<McpEffect> = {}): McpEffect {
  const properties = { date: { type: 'string' }, people: { type: 'integer' } };
  return {
    name: 'reserve', type: 'mcp', description: 'Reserve a table', inputSchema: { type: 'object', properties }, sequential: false, timeoutMs: 10_000,
    mcp: { server, tool: 'reserve', resultId: 'id', errors: 'uncertain' },
    idempotency: { argument: 'key', retentionMs: 86_400_000, onMismatch: 'conflict' },
    lookup: { tool: 'find', args: { key: '{key}' }, absence: 'authoritative', settleAfterMs: 100, everyMs: 1000 },
    correlation: null, unknown: { retry: 'never' }, approval: null, maxConcurrent: null, compensates: null, compensatedBy: null,
    ...change,
  };
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const match = /^mcp server: (http:\S+)$/.exec(line);
    if (match?.[1] !== undefined) return match[1];
  }
  throw new Error('the MCP server did not start');
}
