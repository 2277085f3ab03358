import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The program `name` in the folders of PATH, the first that may be run, or null. */
export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '')) {
    const file = join(folder, name);
    const runs = await access(file, constants.X_OK).then(() => true, () => false);
    if (runs) return file;
  }
  return null;
}
