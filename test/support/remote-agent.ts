import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './wait.js';

const SERVER = fileURLToPath(new URL('./a2a/server.mjs', import.meta.url));

/** See a2a/server.mjs. */
export interface RemoteFaults {
  die?: true;
  drop?: true;
  lost?: true;
  refuse?: number;
  list?: 'empty' | 'none' | 'ok';
}

export interface RemoteAgentProcess {
  url: string;
  /** Every message that it began to work on, also before a restart. */
  log(): Promise<{ messageId: string; contextId: string; taskId: string; text: string }[]>;
  /** The same, for messages that hold a text. */
  began(text: string): Promise<{ messageId: string; contextId: string; taskId: string; text: string }[]>;
  setFaults(faults: RemoteFaults): Promise<void>;
  /** Ends every task that works. */
  release(): Promise<void>;
  /** Tasks that have not ended. */
  open(): Promise<number>;
  /** Resolves when the process has ended. */
  died(): Promise<void>;
  /** Starts it again on its port, with the tasks that it had. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a remote agent that speaks A2A as a process of its own. `idempotent`: it starts nothing new for a message id that it knows. */
export async function startRemoteAgent(options: { idempotent?: boolean } = {}): Promise<RemoteAgentProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'remote-agent-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [SERVER, String(port), join(folder, 'tasks.json'), ...(options.idempotent === true ? ['idempotent'] : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout!, 'data');
    return child;
  };
  let child = await start();
  const ended = async (): Promise<void> => { if (child.exitCode === null && child.signalCode === null) await once(child, 'exit'); };
  const kill = async (): Promise<void> => { child.kill('SIGKILL'); await ended(); };
  const log = async () => (await (await fetch(`${url}/log`)).json()) as Awaited<ReturnType<RemoteAgentProcess['log']>>;
  return {
    url, log, kill,
    began: async (text) => (await log()).filter((line) => line.text.includes(text)),
    setFaults: async (faults) => void (await fetch(`${url}/faults`, { method: 'PUT', body: JSON.stringify(faults) })),
    release: async () => void (await fetch(`${url}/release`, { method: 'PUT' })),
    open: async () => (await (await fetch(`${url}/open`)).json()) as number,
    died: ended,
    restart: async () => { child = await start(); },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
