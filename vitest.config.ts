import { defineConfig } from 'vitest/config';
import { maxWorkers, soakTag, workerProject } from './vitest.projects.ts';

/** What stores or searches vectors. */
const vectorTests = [
  'test/knowledge-base/*.test.ts',
  'test/voice-agents/knowledge.test.ts',
  'test/automation-workflows/knowledge-search-node.test.ts',
  'test/journeys/knowledge-search.test.ts',
];

// What runs in workerd, of it once more what depends on vectors, and programs that run in Node (simulators, scripts, the import).
export default defineConfig({
  test: {
    tags: [soakTag],
    projects: [
      workerProject({ name: 'worker', include: ['test/**/*.test.ts'] }),
      workerProject({ name: 'vectorize', include: vectorTests, vectorize: true }),
      {
        test: {
          name: 'node',
          include: ['test/node/**/*.test.ts'],
          environment: 'node',
          isolate: false,
          setupFiles: ['./test/support/patient-waits.ts'],
          testTimeout: 60_000,
          maxWorkers,
          tags: [soakTag],
        },
      },
    ],
  },
});
