import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive } from './alive.js';

/** What other commands need to know of a running `holdfast dev`, kept in `.holdfast/dev.json`. `dsn` holds a password. */
export const devStateSchema = z.object({
  pid: z.number().int().positive(),
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().nullable(),
  dsn: z.string(),
  apiUrl: z.string().nullable(),
  taskQueue: z.string(),
  configFile: z.string(),
  bookingUrl: z.string().nullable().default(null).describe('The booking server of --demo, for every command that reads the configuration'),
});
export type DevState = z.infer<typeof devStateSchema>;

const fileIn = (stateDir: string) => join(stateDir, 'dev.json');

/** Writes the state whole or not at all, readable by its owner only. */
export async function writeDevState(stateDir: string, state: DevState): Promise<void> {
  await mkdir(stateDir, { recursive: true });
  const scratch = `${fileIn(stateDir)}.${process.pid}`;
  await writeFile(scratch, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await chmod(scratch, 0o600);
  await rename(scratch, fileIn(stateDir));
}

/** The running `holdfast dev` of this folder; null when there is none, its process is gone, or the file is not readable as its state. */
export async function readDevState(stateDir: string): Promise<DevState | null> {
  const text = await readFile(fileIn(stateDir), 'utf8').catch(() => null);
  if (text === null) return null;
  const parsed = devStateSchema.safeParse(parsedJson(text));
  return parsed.success && isAlive(parsed.data.pid) ? parsed.data : null;
}

export async function removeDevState(stateDir: string): Promise<void> {
  await rm(fileIn(stateDir), { force: true });
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
