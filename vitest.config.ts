import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/stack.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    dangerouslyIgnoreUnhandledErrors: false,
    // A suite without tests is a broken suite.
    passWithNoTests: false,
  },
});
