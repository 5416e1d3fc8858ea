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
  return { SIMULATORS_URL: url, TWILIO_BASE_URL: `${url}/twilio`, TELNYX_BASE_URL: `${url}/telnyx/v2` };
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
