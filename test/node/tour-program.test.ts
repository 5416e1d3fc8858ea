import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import api from '../../openapi.json' with { type: 'json' };
import { steps } from '../../scripts/tour/steps.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** What the program prints on stderr as it ends with code 1. */
async function failure(stateDirectory: string): Promise<string> {
  const program = promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../scripts/tour.ts')], {
    env: { ...process.env, STATE_DIR: stateDirectory, PORT: '', SIM_PORT: '' },
  });
  const error = await program.then(
    () => undefined,
    (reason: { code: number; stderr: string }) => reason,
  );
  expect(error?.code).toBe(1);
  return error?.stderr ?? '';
}

const credentialsOf = (directory: string, port: number) =>
  writeFileSync(
    join(directory, 'credentials.json'),
    JSON.stringify({ base_url: `http://127.0.0.1:${port}/api/v1`, api_key: 'k', simulators_url: `http://127.0.0.1:${port}` }),
  );

test('where no service ever ran, it says how to start one', async () => {
  expect(await failure(temporaryDirectory())).toMatch(/npm start/);
});

test('where the service is not running any more, it names the address and says how to start it', async () => {
  const directory = temporaryDirectory();
  credentialsOf(directory, 1);
  expect(await failure(directory)).toBe(
    'The service at http://127.0.0.1:1 does not answer. Run "npm start" in another terminal, with the same STATE_DIR, and try again.\n',
  );
});

test('a step that fails ends it with the step and the reason', async () => {
  const answers: Record<string, unknown> = {
    '/api/v1/health': { status: 'ok' },
    '/__sim/health': { status: 'ok' },
    '/api/v1/organizations/current': { id: 1, name: 'Acme', default_country: 'US' },
    '/api/v1/openapi.json': api,
  };
  const server = createServer((request, response) => {
    const known = answers[request.url ?? ''];
    response
      .writeHead(known ? 200 : 403, { 'content-type': 'application/json' })
      .end(JSON.stringify(known ?? { detail: 'contact_limit_reached' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const directory = temporaryDirectory();
  credentialsOf(directory, (server.address() as AddressInfo).port);
  const output = await failure(directory);
  expect(output).toContain(`Step 1 of ${steps.length}`);
  expect(output).toContain('contact_limit_reached');
});
