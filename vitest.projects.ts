import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { writeShardedConfig } from './scripts/local/second-database.ts';
import { writeSimulatedConfig } from './scripts/local/simulated-vectorize.ts';
import { listen } from './simulators/listen.ts';
import { simulatedVectorize } from './test/support/simulated-vectorize.ts';
import { testVariables } from './test/support/variables.ts';

// All tests of a project share one heap, for which V8's own limit (1.4 GB) is low. In MB.
process.env['MINIFLARE_WORKERD_V8_FLAGS'] ??= '--max-old-space-size=4096';

/** As many as there are cores here: an additional one only makes tests of time fail. */
export const maxWorkers = 2;

/** The tag of what dies at every step, or does its worst many times: minutes that `npm test` does not have; `npm run test:soaks` does. */
export const soakTag = { name: 'soak' };

/**
 * Packages of many files, of which Vite makes one each: a Worker under test asks for its modules one by one, and starts in half the time.
 * `csv-parse` imports what only Node has and stays as it is.
 */
const manyFiles = [
  '@cfworker/json-schema',
  '@hono/zod-openapi',
  '@modelcontextprotocol/server',
  'drizzle-orm',
  'drizzle-orm/d1',
  'drizzle-orm/sqlite-core',
  'fast-check',
  'hono',
  'hono/cookie',
  'hono/cors',
  'hono/factory',
  'hono/http-exception',
  'hono/route',
  'libphonenumber-js/max',
  'lossless-json',
  'zod',
];

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
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    TELNYX_BASE_URL: `${url}/telnyx/v2`,
    COMPOSIO_BASE_URL: `${url}/composio/api/v3.1`,
    META_BASE_URL: `${url}/meta/v25.0`,
    GUPSHUP_BASE_URL: `${url}/gupshup`,
  };
}

/**
 * Tests in workerd; `vectorize`: with vectors in the simulated Vectorize index, which replaces the bound one; `sharded`: with a second database,
 * which has the rows of all new organizations.
 */
export function workerProject({
  name,
  include,
  exclude = [],
  vectorize = false,
  sharded = false,
}: {
  name: string;
  include: string[];
  exclude?: string[];
  vectorize?: boolean;
  sharded?: boolean;
}) {
  return {
    plugins: [
      cloudflareTest(async () => ({
        main: './src/worker.ts',
        remoteBindings: false,
        verbose: false,
        wrangler: { configPath: vectorize ? writeSimulatedConfig() : sharded ? writeShardedConfig() : './wrangler.toml' },
        miniflare: {
          bindings: {
            ...testVariables,
            ...(await simulatorVariables()),
            ...(vectorize && { VECTOR_BACKEND: 'vectorize' }),
            ...(sharded && { FIRST_OPEN_SHARD: '1' }),
            TEST_MIGRATIONS: await readD1Migrations('./migrations'),
          },
          ...(vectorize && { workers: [simulatedVectorize()] }),
        },
      })),
    ],
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', 'test/node/**', 'test/e2e/**', ...(sharded ? [] : ['test/sharded/**']), ...exclude],
      setupFiles: ['./test/support/patient-waits.ts', './test/support/setup.ts'],
      isolate: false,
      deps: { optimizer: { ssr: { enabled: true, include: manyFiles } } },
      maxWorkers,
      tags: [soakTag],
      // Each call to the simulated index leaves the Worker, and what is written there is seen later.
      testTimeout: vectorize ? 120_000 : 60_000,
    },
  };
}
