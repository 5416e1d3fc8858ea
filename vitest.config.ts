import { defineConfig } from 'vitest/config';
import { maxWorkers, soakTag, workerProject } from './vitest.projects.ts';

/** What stores or searches vectors. */
const vectorTests = [
  'test/knowledge-base/*.test.ts',
  'test/voice-agents/knowledge.test.ts',
  'test/automation-workflows/knowledge-search-node.test.ts',
  'test/journeys/knowledge-search.test.ts',
];

/** Of every area something, for organizations on the second shard; none of these reads rows of `DB` itself. */
const shardedTests = [
  'test/sharded/*.test.ts',
  'test/accounts/{api-keys,organizations,sign-in}.test.ts',
  'test/contacts/{counters,upsert}.test.ts',
  'test/events/accept.test.ts',
  'test/journeys/{main-job,gallery,messages}.test.ts',
  'test/voice-agents/artifacts.test.ts',
  'test/calls/{finalize-unanswered,toy-carrier}.test.ts',
  'test/campaigns/{pause-while-placing,sample-files,upload}.test.ts',
  'test/knowledge-base/{documents,upload}.test.ts',
  'test/integrations/settings.test.ts',
  'test/mcp/{access,tools}.test.ts',
];

// What runs in workerd, of it once more what depends on vectors and something of every area on a second database, and programs that run in Node (simulators, scripts, the import).
export default defineConfig({
  test: {
    tags: [soakTag],
    projects: [
      workerProject({ name: 'worker', include: ['test/**/*.test.ts'] }),
      workerProject({ name: 'sharded', include: shardedTests, sharded: true }),
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
