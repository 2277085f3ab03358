import { StackError } from '../errors.js';
import { onFreePorts } from '../ports.js';
import { startServer } from '../process.js';
import { temporalReady } from './ready.js';

/**
 * `dataFile` null keeps everything in memory; `ui` false leaves the UI out. `dynamicConfig` adds server settings, values in JSON. `port`: where it
 * was before; absent: a free one.
 */
export interface TemporalOptions {
  binary: string;
  dataFile: string | null;
  port?: number;
  namespace: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  ui?: boolean;
  logFile?: string;
  dynamicConfig?: Record<string, string>;
}

/** A Temporal development server that ends with us. `uiUrl` is null without UI. */
export interface Temporal {
  address: string;
  uiUrl: string | null;
  pid: number;
  /** Settles when it has ended without having been stopped, with how it ended. */
  lost: Promise<string>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** The development server loads its queues 20 times a second unless told otherwise, which makes three activities take 350 ms. */
const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'history.transferProcessorMaxPollRPS': '10000',
  'history.timerProcessorMaxPollRPS': '10000',
  'history.visibilityProcessorMaxPollRPS': '10000',
};

/** What operators can search for (I12). */
const SEARCH_ATTRIBUTES: Readonly<Record<string, string>> = {
  HoldfastAgent: 'Keyword',
  HoldfastThread: 'Keyword',
  HoldfastStatus: 'Keyword',
  HoldfastPendingApprovals: 'Int',
  HoldfastUnknownEffects: 'Int',
};

/** Starts the server on loopback ports and waits until it answers. Throws `StackError` with its output. */
export function startTemporal(options: TemporalOptions): Promise<Temporal> {
  return onFreePorts(2, ([free = 0, uiPort = 0]) => startOn(options, options.port ?? free, uiPort));
}

async function startOn(options: TemporalOptions, port: number, uiPort: number): Promise<Temporal> {
  const server = await startServer({
    name: 'Temporal',
    command: options.binary,
    args: serverArguments(options, port, uiPort),
    env: withoutClientSettings(options.env),
    signal: 'TERM',
    owner: null,
    logFile: options.logFile ?? null,
    scratch: null,
  });
  const address = `127.0.0.1:${port}`;
  const problem = await temporalReady(address, options.namespace, READY_WITHIN_MS, server.hasExited);
  if (problem !== null) {
    await server.stop();
    throw new StackError(`Temporal (${options.binary}) did not start: ${problem}. Its output:\n${server.output().trim()}`);
  }
  const uiUrl = options.ui === false ? null : `http://127.0.0.1:${uiPort}`;
  options.log(`Temporal: ready at ${address}${uiUrl === null ? '' : `, UI at ${uiUrl}`}`);
  return { address, uiUrl, pid: server.pid, lost: server.lost, stop: server.stop };
}

function serverArguments(options: TemporalOptions, port: number, uiPort: number): string[] {
  const pairs = (flag: string, values: Readonly<Record<string, string>>) => Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]);
  const file = options.dataFile === null
    ? []
    : ['--db-filename', options.dataFile, ...pairs('--sqlite-pragma', { journal_mode: 'wal', synchronous: 'normal' })];
  return [
    'server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error',
    ...(options.ui === false ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.namespace === 'default' ? [] : ['--namespace', options.namespace]),
    ...file,
    ...pairs('--dynamic-config-value', { ...DYNAMIC_CONFIG, ...options.dynamicConfig }),
    ...pairs('--search-attribute', SEARCH_ATTRIBUTES),
  ];
}

/** TEMPORAL_* settings are for clients; the CLI would read them, too. */
function withoutClientSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
