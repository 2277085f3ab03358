import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../support/wait.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CliProcess {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Until the output holds this. */
  says(text: string | RegExp): Promise<unknown>;
  /** Sends a signal to the whole process group, as a terminal does. */
  signal(signal: 'SIGINT' | 'SIGTERM'): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the built command line in a process group of its own, with no environment but `env`, PATH and HOME. */
export function startCli(args: string[], { cwd, env = {} }: { cwd: string; env?: Record<string, string> }): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd, detached: true, env: { PATH: process.env.PATH, HOME: process.env.HOME, HOLDFAST_TEST_FOLDER: cwd, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }));
  return {
    pid: child.pid!, ended,
    stdout: () => stdout,
    stderr: () => stderr,
    says: (text) => waitFor(() => (typeof text === 'string' ? (stdout + stderr).includes(text) : text.test(stdout + stderr)), { what: `"${text}" in the output: ${stdout}${stderr}`, timeoutMs: 40_000 }),
    signal: (signal) => void process.kill(-child.pid!, signal),
  };
}

/** Processes that a command which ran in this folder has started, by their command lines or by the environment that they inherited. */
export async function leftovers(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => {
    const [line, environment] = await Promise.all(['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')));
    return line!.includes(folder) || environment!.includes(`HOLDFAST_TEST_FOLDER=${folder}\0`) ? `${pid} ${line!.replaceAll('\0', ' ')}` : null;
  }));
  return found.filter((line) => line !== null);
}

/** Until nothing is left; a server is gone a moment before the one that watches it. */
export function nothingLeft(folder: string): Promise<unknown> {
  return waitFor(async () => (await leftovers(folder)).length === 0 || Promise.reject(new Error((await leftovers(folder)).join('\n'))), { what: 'the end of every process', timeoutMs: 15_000 });
}
