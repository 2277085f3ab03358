import { defineConfig } from 'vitest/config';

/** The full kill matrix, on servers of its own that it crashes: one file, one process, printed as it comes (D36). */
export default defineConfig({
  test: { include: ['test/chaos/matrix/matrix.ts'], testTimeout: 240_000, hookTimeout: 240_000, maxConcurrency: 3, disableConsoleIntercept: true, passWithNoTests: false },
});
