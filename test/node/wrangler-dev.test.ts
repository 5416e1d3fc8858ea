import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { projectDirectory, readLocalSettings } from '../../scripts/local/settings.ts';
import { findWranglerDev, readCommandLine } from '../../scripts/wrangler-dev/find-wrangler-dev.ts';
import { developmentPort } from '../../scripts/wrangler-dev/development-port.ts';
import { introduction } from '../../scripts/wrangler-dev/introduction.ts';
import { codeMigrations } from '../../src/database/migration-state.ts';
import { getSettings } from '../../src/settings.ts';

const run = promisify(execFile);
const configuration = readConfig({ config: join(projectDirectory, 'wrangler.toml') });

describe('a deployment', () => {
  test('has no secret of development, closed sign-up and no private address, by its configuration', () => {
    expect(configuration.vars).toMatchObject({ DEPLOYMENT_MODE: 'cloud', SIGNUP: 'closed' });
    const forbidden = /KEY|SECRET|TOKEN|ALLOWED_PRIVATE|_BASE_URL/;
    expect(Object.keys(configuration.vars).filter((name) => forbidden.test(name))).toEqual([]);
    expect(JSON.stringify(configuration.vars)).not.toMatch(/127\.0\.0\.1|localhost/);
  });

  test('without secrets refuses to serve', () => {
    expect(() => getSettings({ ...configuration.vars } as unknown as Env)).toThrow(/ENCRYPTION_KEY: is missing; SIGNING_KEY: is missing/);
  });

  test.each(['deploy', 'types', 'versions upload', undefined])(
    'prepares nothing for development: command %s',
    { tags: 'soak' },
    async (command) => {
      const before = existsSync(join(projectDirectory, '.dev.vars'));
      const { stdout, stderr } = await run(process.execPath, ['scripts/wrangler-dev/prepare.ts'], {
        cwd: projectDirectory,
        env: { ...process.env, WRANGLER_COMMAND: command },
      });
      expect(stdout + stderr).toBe('');
      expect(existsSync(join(projectDirectory, '.dev.vars'))).toBe(before);
    },
  );
});

describe('the wrangler dev that has its state prepared', () => {
  test.each([
    ['/usr/bin/node --no-warnings /x/node_modules/wrangler/wrangler-dist/cli.js dev', {}],
    ['node /x/node_modules/.bin/wrangler dev --port 9000 --persist-to /tmp/state', { port: '9000', persistTo: '/tmp/state' }],
    ['node /x/node_modules/wrangler/bin/wrangler.js dev --port=9000 --ip 0.0.0.0', { port: '9000' }],
    ['node /x/node_modules/.bin/wrangler -c wrangler.toml dev --remote', { isRemote: true }],
  ])('is recognized by its command line: %s', (line, expected) => {
    expect(readCommandLine(line.split(' '))).toEqual({ port: undefined, persistTo: undefined, isRemote: false, ...expected });
  });

  test.each(['node scripts/start.ts dev', 'npm exec wrangler dev', 'node /x/node_modules/.bin/wrangler deploy', 'vitest dev', ''])(
    'is no other program: %s',
    (line) => expect(readCommandLine(line.split(' '))).toBeUndefined(),
  );

  test('is the nearest such ancestor, and none where there is none', () => {
    const processes = new Map([
      [30, { parentId: 20, commandLine: ['sh', '-c', 'node_modules/.bin/node scripts/wrangler-dev/prepare.ts'] }],
      [20, { parentId: 10, commandLine: ['node', '/x/node_modules/wrangler/wrangler-dist/cli.js', 'dev', '--port', '9000'] }],
      [10, { parentId: 1, commandLine: ['node', '/x/node_modules/.bin/wrangler', 'dev', '--port', '9000'] }],
      [40, { parentId: 1, commandLine: ['zsh'] }],
    ]);
    const look = (processId: number) => processes.get(processId);
    expect(findWranglerDev(30, look)).toMatchObject({ processId: 20, port: '9000' });
    expect(findWranglerDev(40, look)).toBeUndefined();
    expect(findWranglerDev(50, look)).toBeUndefined();
    expect(findWranglerDev(process.pid)).toBeUndefined();
  });

  test('listens on loopback, on the port that npm start takes, and waits for no other', () => {
    expect(configuration.dev).toMatchObject({ ip: '127.0.0.1', port: 8787 });
    expect(developmentPort()).toBe(readLocalSettings({}).port);
    expect(developmentPort('[vars]\nport = 1\n\n[dev]\nip = "127.0.0.1"\nport = 18140\n\n[other]\nport = 2\n')).toBe(18140);
  });
});

test('the introduction names the address, the way to a key, and the simulators with their port', () => {
  const expected = introduction(readLocalSettings({ PORT: '9000', SIM_PORT: '9001' }), '.wrangler/state/wrangler-dev.log');
  expect(expected).toContain("curl -s 'http://127.0.0.1:9000/api/v1/auth/signup'");
  expect(expected).toContain('npm run --silent credentials');
  expect(expected).toContain('"SIM_PORT=9001 npm run simulators"');
  expect(introduction(readLocalSettings({}), 'x')).toContain('"npm run simulators"');
});

test('the code knows each migration that there is, in order', () => {
  const files = readdirSync(join(projectDirectory, 'migrations')).filter((name) => name.endsWith('.sql'));
  expect(codeMigrations).toEqual(files.toSorted());
  expect(readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8')).toContain('migrations_dir = "migrations"');
});
