import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('../../examples/booking/server.mjs', import.meta.url));

export type When = 'before' | 'after';

/** Faults of the booking server; see examples/booking/README.md. */
export interface BookingFaults {
  delayBeforeMs?: number;
  delayAfterMs?: number;
  failNext?: { count?: number; status?: number; when?: When; headers?: Record<string, string> };
  dropNext?: { count?: number; when?: When };
  hangNext?: { count?: number; when?: When };
  lookup?: 'ok' | 'fail' | 'garbage' | 'many' | 'no_id' | 'empty';
}

/** One effect that really happened. */
export interface BookingEffect {
  seq: number;
  at: string;
  effect: 'reserve' | 'cancel';
  id: string;
  key: string | null;
  reference: string | null;
}

export interface Booking {
  url: string;
  pid: number;
  setFaults(faults: BookingFaults): Promise<void>;
  clearFaults(): Promise<void>;
  /** Makes requests wait on this side of the effect until `release`. */
  hold(when?: When): Promise<void>;
  release(): Promise<void>;
  /** Requests that are waiting now. */
  held(): Promise<number>;
  log(): Promise<BookingEffect[]>;
  /** Requests for an effect, by key (`-` without one). */
  posts(): Promise<Record<string, number>>;
  /** Ends the process; `SIGKILL` as a crash. A file that was passed in is kept. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface BookingOptions {
  /** Which features the system has: `keys,lookup` (default), `keys`, `lookup` or `none`. */
  mode?: 'keys,lookup' | 'keys' | 'lookup' | 'none';
  /** Where reservations are kept; default a temporary file. */
  file?: string;
  /** Seats a day; enough for any test by default. */
  seats?: number;
}

/** Starts the booking server of the sample as a process of its own on a free port. */
export async function startBooking(options: BookingOptions = {}): Promise<Booking> {
  const folder = options.file === undefined ? await mkdtemp(join(tmpdir(), 'booking-')) : null;
  const file = options.file ?? join(folder ?? '', 'reservations.jsonl');
  const args = ['--port', '0', '--file', file, '--mode', options.mode ?? 'keys,lookup', '--seats', String(options.seats ?? 1_000_000), '--quiet'];
  const child = spawn(process.execPath, [SERVER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const orphaned = (): void => void child.kill('SIGKILL');
  process.once('exit', orphaned);
  const url = await readyUrl(child);
  const stop: Booking['stop'] = async (signal = 'SIGTERM') => {
    process.off('exit', orphaned);
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
  return { url, pid: child.pid ?? -1, stop, ...controls(url) };
}

function controls(url: string): Omit<Booking, 'url' | 'pid' | 'stop'> {
  return {
    setFaults: async (faults) => void (await ask(url, 'PUT', '/faults', faults)),
    clearFaults: async () => void (await ask(url, 'DELETE', '/faults')),
    hold: async (when = 'before') => void (await ask(url, 'PUT', '/hold', { when })),
    release: async () => void (await ask(url, 'DELETE', '/hold')),
    held: async () => ((await ask(url, 'GET', '/held')) as { waiting: number }).waiting,
    log: async () => (await ask(url, 'GET', '/log')) as BookingEffect[],
    posts: async () => (await ask(url, 'GET', '/posts')) as Record<string, number>,
  };
}

async function ask(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** The address that the server prints, or an error with what it printed instead. */
async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null || child.stderr === null) throw new Error('the booking server has no output');
  let trouble = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { trouble += text; });
  for await (const line of createInterface({ input: child.stdout })) {
    const match = /^booking server: (http:\S+)$/.exec(line);
    if (match?.[1] !== undefined) return match[1];
  }
  throw new Error(`the booking server did not start: ${trouble}`);
}
