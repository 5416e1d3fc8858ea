import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readCredentials, writeCredentials } from '../../scripts/local/credentials.ts';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const credentials = { base_url: 'http://127.0.0.1:9001/api/v1', api_key: 'vaa_example', simulators_url: 'http://127.0.0.1:9002' };

function runCredentials(stateDirectory: string) {
  const program = join(projectDirectory, 'scripts', 'credentials.ts');
  return promisify(execFile)(process.execPath, [program], {
    cwd: temporaryDirectory(),
    env: { ...process.env, STATE_DIR: stateDirectory },
  });
}

test('credentials are kept for their owner alone and read back as they were', () => {
  const stateDirectory = join(temporaryDirectory(), 'state');
  writeCredentials(stateDirectory, credentials);
  expect(readCredentials(stateDirectory)).toEqual(credentials);
  expect(statSync(join(stateDirectory, 'credentials.json')).mode & 0o777).toBe(0o600);
});

test('the command prints the three fields as JSON and nothing else', async () => {
  const stateDirectory = temporaryDirectory();
  writeCredentials(stateDirectory, credentials);
  const { stdout, stderr } = await runCredentials(stateDirectory);
  expect(JSON.parse(stdout)).toEqual(credentials);
  expect(stderr).toBe('');
});

test('without any, the command says on stderr what to do and fails', async () => {
  const failure = await runCredentials(temporaryDirectory()).catch(
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
  expect(failure).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Run "npm start" first') });
});
