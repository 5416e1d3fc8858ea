import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { writeSimulatedConfig } from './scripts/local/simulated-vectorize.ts';
import { listen } from './simulators/listen.ts';
import { simulatedVectorize } from './test/support/simulated-vectorize.ts';
import { testVariables } from './test/support/variables.ts';

/** The simulated carriers hold what they would send: nothing can reach the Worker under test from outside. */
async function simulatorVariables() {
  process.env['SIM_CALLBACKS'] = 'hold';
  const { url, unref } = await listen({ port: 0 });
  delete process.env['SIM_CALLBACKS'];
  unref();
  return {
    SIMULATORS_URL: url,
    ALLOWED_PRIVATE_ORIGINS: `${testVariables.ALLOWED_PRIVATE_ORIGINS},${url}`,
    TWILIO_BASE_URL: `${url}/twilio`,
    TWILIO_CONTENT_BASE_URL: `${url}/twilio/content`,
    TELNYX_BASE_URL: `${url}/telnyx/v2`,
    COMPOSIO_BASE_URL: `${url}/composio/api/v3.1`,
    META_BASE_URL: `${url}/meta/v25.0`,
    GUPSHUP_BASE_URL: `${url}/gupshup`,
  };
}

/** More than there are cores here: many tests wait, for a queue, an alarm or a timer. */
const maxWorkers = 3;

/** Tests in workerd; `vectorize`: with vectors in the simulated Vectorize index, which replaces the bound one. */
function workerProject({
  name,
  include,
  exclude = [],
  vectorize,
}: {
  name: string;
  include: string[];
  exclude?: string[];
  vectorize: boolean;
}) {
  return {
    plugins: [
      cloudflareTest(async () => ({
        remoteBindings: false,
        verbose: false,
        wrangler: { configPath: vectorize ? writeSimulatedConfig() : './wrangler.toml' },
        miniflare: {
          bindings: {
            ...testVariables,
            ...(await simulatorVariables()),
            ...(vectorize && { VECTOR_BACKEND: 'vectorize' }),
            TEST_MIGRATIONS: await readD1Migrations('./migrations'),
          },
          ...(vectorize && { workers: [simulatedVectorize()] }),
        },
      })),
    ],
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', 'test/node/**', 'test/e2e/**', ...exclude],
      setupFiles: ['./test/support/setup.ts'],
      isolate: false,
      maxWorkers,
      // Each call to the simulated index leaves the Worker, and what is written there is seen later.
      testTimeout: vectorize ? 120_000 : 30_000,
    },
  };
}

/** What stores or searches vectors, but for what uses both indexes anyway. */
const usesBoth = ['test/knowledge-base/move-vectors.test.ts'];
const vectorTests = [
  'test/knowledge-base/*.test.ts',
  'test/voice-agents/knowledge.test.ts',
  'test/automation-workflows/knowledge-search-node.test.ts',
  'test/journeys/knowledge-search.test.ts',
];

const testsOf = (...rooms: string[]) => rooms.map((room) => `test/${room}/**/*.test.ts`);
/** What talks and is tested by talking. All of a project's tests share one heap, which holds about a hundred files. */
const talkTests = testsOf('voice-agents', 'calls', 'simtest', 'durable-objects');
/** What reads files. */
const fileTests = testsOf('campaigns', 'knowledge-base', 'contacts', 'integrations');

// What runs in workerd, of it once more what depends on vectors, and programs that run in Node (simulators, scripts, the import).
export default defineConfig({
  test: {
    projects: [
      workerProject({ name: 'worker', include: ['test/**/*.test.ts'], exclude: [...talkTests, ...fileTests], vectorize: false }),
      workerProject({ name: 'talks', include: talkTests, vectorize: false }),
      workerProject({ name: 'files', include: fileTests, vectorize: false }),
      workerProject({ name: 'vectorize', include: vectorTests, exclude: usesBoth, vectorize: true }),
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], environment: 'node', testTimeout: 60_000, maxWorkers } },
    ],
  },
});
