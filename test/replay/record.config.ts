import { defineConfig } from 'vitest/config';
import tests from '../../vitest.config.js';

/** Runs the recorder instead of the tests. */
export default defineConfig({ test: { ...tests.test, include: ['test/replay/record.ts'] } });
