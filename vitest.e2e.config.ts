import { defineConfig } from 'vitest/config';
import { maxWorkers, soakTests, workerProject } from './vitest.projects.ts';

// Whole services on loopback, started as a user starts them, one after the other; and before them the tests that take minutes.
export default defineConfig({
  test: {
    projects: [
      workerProject({ name: 'soaks', include: [soakTests] }),
      { test: { name: 'node-soaks', include: [`test/node/${soakTests}`], environment: 'node', testTimeout: 60_000, maxWorkers } },
      {
        test: {
          name: 'services',
          include: ['test/e2e/**/*.test.ts'],
          environment: 'node',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
