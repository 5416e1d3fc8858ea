import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Service } from './service.ts';

const directory = join(import.meta.dirname, '../clients');
const run = async (script: string) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', script], { cwd: directory }).catch((error) => {
    throw new Error(`npm run ${script}: ${error.stdout}${error.stderr}`);
  });
  return stdout;
};

const isInstalled = existsSync(join(directory, 'node_modules'));
if (!isInstalled) console.warn('The generated clients are not tried: npm ci --prefix test/clients installs what makes them');

describe.skipIf(!isInstalled && !process.env['CI'])('the OpenAPI document', () => {
  let service: Service;

  beforeAll(async () => {
    service = await Service.create();
    await Promise.all([service.start(), run('generate')]);
  });
  afterAll(async () => service?.remove());

  test('has no fault that Spectral finds', async () => {
    expect(await run('lint')).toContain('No results');
  });

  test('generates typed clients that compile', async () => {
    expect(await run('compile')).toBe('');
  });

  test.each(['openapi-fetch', 'hey-api'])('generates a %s client that makes ten calls', async (name) => {
    const { story } = await import(`../clients/${name}-story.ts`);
    const { api_key } = await service.credentials();
    expect(await story(`http://127.0.0.1:${service.port}`, api_key)).toEqual({
      health: 'ok',
      isSamePerson: true,
      name: name === 'hey-api' ? 'Ada Lovelace' : 'Ada Byron',
      found: [true],
      lists: [name],
      isEventOfContact: true,
      events: ['order_placed'],
      refused: [404, 'string'],
      removed: 'deleted',
    });
  });
});
