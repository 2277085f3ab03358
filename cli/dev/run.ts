import { join, resolve } from 'node:path';
import { startApi } from '../../api/start.js';
import { HoldfastClient, HoldfastError } from '../../client/index.js';
import { compileAgents } from '../../config/compile.js';
import { loadConfig } from '../../config/load.js';
import { withoutMemory } from '../../config/overrides.js';
import { requireSecrets } from '../../config/secrets.js';
import { readSettings, type DevAddresses, type Settings } from '../../config/settings.js';
import type { HoldfastConfig } from '../../contracts/config.js';
import { makeStateDir } from '../../dev/claim.js';
import { startStack } from '../../dev/stack.js';
import { removeDevState, writeDevState, type DevState } from '../../dev/state.js';
import { runWorker } from '../../worker/run.js';
import { capabilityLines } from '../capability-lines.js';
import { EXIT, type CommandContext } from '../context.js';
import { clientSettings } from '../runtime.js';
import { exitOf } from '../commands/send.js';
import { startBookingServer } from '../demo/booking-server.js';
import { runSampleTurn } from '../demo/sample-turn.js';
import { createLog } from '../log.js';
import { migrateSchema } from '../migrate-schema.js';
import { listenForStop, type StopSignal } from '../signals.js';
import { addresses, tryNext } from './banner.js';
import { Teardown } from './teardown.js';

export interface DevOptions {
  demo: boolean;
  once: boolean;
  worker: boolean;
  api: boolean;
  memory: 'postgres' | 'in-memory' | 'in_memory' | 'off';
}

/** `holdfast dev`: everything in this process, stopped in reverse order whatever happens. */
export async function runDev(context: CommandContext, options: DevOptions): Promise<number> {
  if (options.once && !options.demo) throw new HoldfastError('invalid_input', '--once needs --demo: without the sample turn there is nothing to end after.');
  if (options.demo && !options.worker) throw new HoldfastError('invalid_input', '--demo needs a worker. Leave out --no-worker.');
  const teardown = new Teardown();
  const stop = listenForStop(() => context.note('\nstopping: running steps may end first; a second signal ends at once'));
  try {
    return await serve(context, options, teardown, stop);
  } catch (error) {
    if (stop.signal.aborted) return EXIT.done;
    throw error;
  } finally {
    for (const failure of await teardown.run()) context.note(`could not be stopped cleanly: ${failure}`);
    stop.dispose();
  }
}

/** Stands for the servers that this command is going to start. */
const NOT_STARTED: DevAddresses = { temporalAddress: '127.0.0.1:7233', namespace: 'default', dsn: '', taskQueue: 'holdfast', apiUrl: null };

async function serve(context: CommandContext, options: DevOptions, teardown: Teardown, stop: StopSignal): Promise<number> {
  const stateDir = resolve(context.io.cwd, context.globals.stateDir);
  const memory = options.memory === 'postgres' || options.memory === 'off' ? 'postgres' : 'in_memory';
  const bookingUrl = options.demo ? await booking(context, stateDir, teardown) : null;
  const env: NodeJS.ProcessEnv = { ...context.io.env, ...(bookingUrl === null ? {} : { BOOKING_URL: bookingUrl }) };
  // A throw-away run must not write into the database that the environment names.
  if (memory === 'in_memory') for (const name of ['POSTGRES_ORCH_DSN', 'POSTGRES_MEMORY_DSN']) delete env[name];
  const loaded = await loadConfig({ cwd: context.io.cwd, env, ...(context.globals.config === undefined ? {} : { file: context.globals.config }) });
  const config = options.memory === 'off' ? withoutMemory(loaded) : loaded;
  if (options.worker) requireSecrets(config, env);
  // What is wrong in the environment is told before anything starts.
  readSettings(env, NOT_STARTED);
  const stack = await startStack({ stateDir, env, log: context.note, memory });
  teardown.add('servers', () => stack.stop());
  // A profile or a key for another server is not for the one that was started here.
  if (stack.uiUrl !== null) for (const name of Object.keys(env)) if (name.startsWith('TEMPORAL_')) delete env[name];
  stop.signal.throwIfAborted();
  const state: DevState = {
    pid: process.pid, temporalAddress: stack.temporalAddress, namespace: stack.namespace, uiUrl: stack.uiUrl, dsn: stack.dsn, apiUrl: null,
    taskQueue: env['HOLDFAST_TASK_QUEUE'] || 'holdfast', configFile: resolve(context.io.cwd, context.globals.config ?? 'holdfast.toml'), bookingUrl,
  };
  const settings = readSettings(env, state);
  await migrateSchema(settings.postgres.dsn);
  stop.signal.throwIfAborted();
  const { client, apiUrl, workerEnded } = await parts({ context, options, settings, config, teardown, env });
  await writeDevState(stateDir, { ...state, apiUrl });
  teardown.add('state file', () => removeDevState(stateDir));
  context.print([{ ...state, dsn: undefined, apiUrl }], addresses({ ...state, apiUrl }));
  if (bookingUrl !== null) {
    const say = context.globals.json ? context.note : context.io.out;
    const turn = await runSampleTurn({ client, agent: config.app.default_agent, user: context.globals.as, bookingUrl, say, signal: stop.signal });
    if (context.globals.json) context.print([turn], '');
    if (options.once) return exitOf(turn);
  }
  context.note(tryNext(apiUrl, options.demo ? 'Book a table for 2 people on 2026-12-31 at 20:00 for Lee' : 'Hello'));
  await Promise.race([stop.received(), workerEnded, stack.lost]);
  return EXIT.done;
}

async function booking(context: CommandContext, stateDir: string, teardown: Teardown): Promise<string> {
  await makeStateDir(stateDir);
  const server = await startBookingServer(join(stateDir, 'booking.jsonl'));
  teardown.add('booking server', () => server.stop());
  context.note(`booking server: ${server.url} (the external system of the sample)`);
  return server.url;
}

interface PartsOptions {
  context: CommandContext;
  options: DevOptions;
  settings: Settings;
  config: HoldfastConfig;
  teardown: Teardown;
  env: NodeJS.ProcessEnv;
}

interface Parts {
  client: HoldfastClient;
  apiUrl: string | null;
  /** Rejects when the worker fails by itself: a stack without its worker is not kept up as if it worked. */
  workerEnded: Promise<void>;
}

/** Client, API and worker; the worker is stopped first, while the others still answer. */
async function parts({ context, options, settings, config, teardown, env }: PartsOptions): Promise<Parts> {
  // Unless asked for, only trouble is logged: people read this terminal.
  const log = createLog({ level: env['HOLDFAST_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel, readable: !context.globals.json });
  const client = await HoldfastClient.connect({ settings: clientSettings(settings) });
  teardown.add('client', () => client.close());
  let apiUrl: string | null = null;
  if (options.api) {
    const { host, port } = settings.api;
    const asked = (env['HOLDFAST_API_PORT'] ?? '') !== '';
    const api = await startApi({ host, port, orFree: !asked, client, capabilities: () => capabilityLines(client), log });
    teardown.add('api', () => api.close());
    if (!asked && !api.url.endsWith(`:${port}`)) context.note(`API: port ${port} is taken, serving at ${api.url}`);
    apiUrl = api.url;
  }
  if (!options.worker) return { client, apiUrl, workerEnded: new Promise(() => undefined) };
  context.note('starting the worker');
  const worker = await runWorker({ settings, compiled: compileAgents(config), log, secrets: (name) => env[name] });
  teardown.add('worker', () => worker.stop());
  return { client, apiUrl, workerEnded: worker.done };
}
