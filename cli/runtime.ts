import { resolve } from 'node:path';
import type { ClientSettings } from '../client/index.js';
import { compileAgents, type CompiledAgents } from '../config/compile.js';
import { loadConfig } from '../config/load.js';
import { readSettings, type Settings } from '../config/settings.js';
import type { HoldfastConfig } from '../contracts/config.js';
import { readDevState, type DevState } from '../dev/state.js';
import type { GlobalOptions } from './context.js';
import type { Io } from './io.js';

/** What a command knows of its surroundings: environment first, then a running `holdfast dev`, then defaults. */
export interface Runtime {
  settings: Settings;
  devState: DevState | null;
  stateDir: string;
  /** The checked configuration file; read only by commands that need it. */
  config(): Promise<HoldfastConfig>;
  compiled(): Promise<CompiledAgents>;
}

export async function loadRuntime(io: Io, globals: GlobalOptions): Promise<Runtime> {
  const stateDir = resolve(io.cwd, globals.stateDir);
  const devState = await readDevState(stateDir);
  const file = globals.config ?? devState?.configFile;
  // The demo's configuration means the same in every process: a worker beside it must not register effects at another address.
  const env = { ...(devState?.bookingUrl == null ? {} : { BOOKING_URL: devState.bookingUrl }), ...io.env };
  const config = async () => loadConfig({ cwd: io.cwd, env, ...(file === undefined ? {} : { file }) });
  return { settings: readSettings(io.env, devState), devState, stateDir, config, compiled: async () => compileAgents(await config()) };
}

/** The part of the settings that a client needs. */
export function clientSettings(settings: Settings): ClientSettings {
  return settings;
}
