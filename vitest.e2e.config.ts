import { defineConfig } from 'vitest/config';

/** Files that hold the service to times, and so want the machine for themselves. */
const timed = ['neighbours', 'campaign-pause', 'fuzz', 'cost-account'].map((name) => `test/e2e/${name}.test.ts`);

// Whole services on loopback, each started as a user starts it, at ports and in a directory of its own.
export default defineConfig({
  test: {
    environment: 'node',
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      {
        extends: true,
        test: { name: 'two at a time', include: ['test/e2e/**/*.test.ts'], exclude: timed, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      { extends: true, test: { name: 'alone', include: timed, fileParallelism: false, sequence: { groupOrder: 1 } } },
    ],
  },
});
