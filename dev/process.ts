import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { reapWithUs } from './reaper.js';

/** How to run a server. `signal` is what makes it stop in order; `scratch` is removed if we die before we stop it. */
export interface ServerCommand {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  signal: 'INT' | 'TERM';
  owner: { uid: number; gid: number } | null;
  logFile: string | null;
  scratch: string | null;
}

/** A server that runs as our child and ends with us. */
export interface ServerProcess {
  pid: number;
  /** Settles when the process has ended, with how it ended. */
  exited: Promise<string>;
  /** Settles only when it has ended without having been stopped, with how it ended. */
  lost: Promise<string>;
  hasExited(): boolean;
  /** The beginning of the output and the newest of it, at most 2,000 and 8,000 characters. What went wrong is often said before a long stack. */
  output(): string;
  onOutput(listener: () => void): void;
  /** Stops in order, after 10 s by force. */
  stop(): Promise<void>;
}

const KEEP_FIRST = 2_000;
const KEEP_LAST = 8_000;
const LEFT_OUT = '\n[…]\n';
const STOP_WITHIN_MS = 10_000;

/** Starts a server in a session of its own, so that Ctrl-C reaches us alone and we stop things in the right order. */
export async function startServer(what: ServerCommand): Promise<ServerProcess> {
  const child = spawn(what.command, what.args, { env: what.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'], ...what.owner });
  let ended = false;
  let stopping = false;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true;
      resolve(signal === null ? `code ${code}` : `signal ${signal}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${what.name} could not be run: ${error.message}`)));
  });
  const pid = child.pid ?? 0;
  const release = reapWithUs(pid, what.signal, what.scratch);
  const output = collect([child.stdout, child.stderr], what.logFile);
  void exited.then(release);
  return {
    pid,
    exited,
    lost: new Promise((resolve) => void exited.then((how) => (stopping ? undefined : resolve(how)))),
    hasExited: () => ended,
    output: output.kept,
    onOutput: output.listen,
    stop: async () => {
      stopping = true;
      if (ended) return;
      child.kill(`SIG${what.signal}`);
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await exited;
      clearTimeout(force);
    },
  };
}

function collect(streams: NodeJS.ReadableStream[], logFile: string | null): { kept: () => string; listen: (listener: () => void) => void } {
  let kept = '';
  const listeners: (() => void)[] = [];
  const file = logFile === null ? null : createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  file?.on('error', () => undefined);
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      kept = shortened(kept + chunk.toString('utf8'));
      file?.write(chunk);
      for (const listener of listeners) listener();
    });
  }
  return { kept: () => kept, listen: (listener) => listeners.push(listener) };
}

function shortened(text: string): string {
  return text.length <= KEEP_FIRST + LEFT_OUT.length + KEEP_LAST ? text : text.slice(0, KEEP_FIRST) + LEFT_OUT + text.slice(-KEEP_LAST);
}
