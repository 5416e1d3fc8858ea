import { defineConfig } from 'vitest/config';

// Whole services on loopback, started as a user starts them, one after the other.
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
