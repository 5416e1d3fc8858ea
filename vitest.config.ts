import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';
import { listen } from './simulators/listen.ts';
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

// Two projects: what runs in workerd, and programs that run in Node (simulators, scripts, the import).
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            remoteBindings: false,
            verbose: false,
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: { ...testVariables, ...(await simulatorVariables()), TEST_MIGRATIONS: await readD1Migrations('./migrations') },
            },
          })),
        ],
        test: {
          name: 'worker',
          include: ['test/**/*.test.ts'],
          exclude: ['test/node/**', 'test/e2e/**'],
          setupFiles: ['./test/support/setup.ts'],
          isolate: false,
          fileParallelism: false,
          testTimeout: 30_000,
        },
      },
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], environment: 'node', testTimeout: 60_000 } },
    ],
  },
});
