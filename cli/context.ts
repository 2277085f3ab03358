import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { HoldfastClient } from '../client/index.js';
import type { Io } from './io.js';
import { reportError } from './report.js';
import { clientSettings, loadRuntime, type Runtime } from './runtime.js';

/** Options that every command takes. */
export interface GlobalOptions {
  config?: string;
  json: boolean;
  as: string;
  stateDir: string;
}

/** Exit codes (document 5). */
export const EXIT = { done: 0, refused: 1, usage: 2, unreachable: 3, person: 4 } as const;

/** What the action of one command works with. */
export interface CommandContext {
  io: Io;
  globals: GlobalOptions;
  /** One object per line with `--json`, otherwise the text for people. */
  print(objects: unknown[], human: string): void;
  /** Something said about the work, never part of its result. */
  note(text: string): void;
  runtime(): Promise<Runtime>;
  /** Connected on first use, closed when the command ends. */
  client(): Promise<HoldfastClient>;
}

/** Name of the principal when `--as` is absent (dev auth). */
export function defaultUser(): string {
  try {
    return userInfo().username || 'operator';
  } catch {
    return 'operator';
  }
}

/** Runs one command to its exit code; every error is reported once, here. */
export async function runCommand(io: Io, command: Command, work: (context: CommandContext) => Promise<number>): Promise<number> {
  const globals = command.optsWithGlobals<GlobalOptions>();
  let connected: Promise<HoldfastClient> | undefined;
  let loaded: Promise<Runtime> | undefined;
  const runtime = () => (loaded ??= loadRuntime(io, globals));
  const context: CommandContext = {
    io,
    globals,
    print: (objects, human) => (globals.json ? objects.forEach((object) => io.out(JSON.stringify(object))) : io.out(human)),
    note: (text) => io.err(text),
    runtime,
    client: () => (connected ??= runtime().then(({ settings }) => HoldfastClient.connect({ settings: clientSettings(settings) }))),
  };
  try {
    return await work(context);
  } catch (error) {
    return reportError(io, globals.json, error);
  } finally {
    await connected?.then((client) => client.close(), () => undefined);
  }
}
