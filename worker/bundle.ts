import { writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';

/** Where the build leaves the workflow bundle, so that a worker is ready at once. */
export const BUNDLE_PATH = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** Bundles the determinism zone once, at build time. */
async function writeBundle(): Promise<void> {
  const workflowsPath = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  await writeFile(BUNDLE_PATH, code);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await writeBundle();
