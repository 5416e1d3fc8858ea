import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeVariables, ensureDevelopmentVariables, variableNames } from '../../scripts/local/development-variables.ts';
import { portVariables, readLocalSettings } from '../../scripts/local/settings.ts';
import { getSettings } from '../../src/settings.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const valueOf = (text: string, name: string) => text.match(new RegExp(`^${name}="(.*)"$`, 'm'))?.[1] ?? '';

test('a missing .dev.vars is made with secrets of 32 random bytes, open sign-up and local mode, for its owner alone', () => {
  const [one, other] = [join(temporaryDirectory(), '.dev.vars'), join(temporaryDirectory(), '.dev.vars')];
  const names = ensureDevelopmentVariables(one);
  ensureDevelopmentVariables(other);
  const text = readFileSync(one, 'utf8');
  expect([...names].toSorted()).toEqual(['DEPLOYMENT_MODE', 'ENCRYPTION_KEY', 'SIGNING_KEY', 'SIGNUP']);
  expect([valueOf(text, 'SIGNUP'), valueOf(text, 'DEPLOYMENT_MODE')]).toEqual(['open', 'local']);
  const secrets = [text, readFileSync(other, 'utf8')].flatMap((file) =>
    ['ENCRYPTION_KEY', 'SIGNING_KEY'].map((name) => valueOf(file, name)),
  );
  expect(secrets.map((secret) => Buffer.from(secret, 'base64').length)).toEqual([32, 32, 32, 32]);
  expect(new Set(secrets).size).toBe(4);
  expect(statSync(one).mode & 0o777).toBe(0o600);
});

test('what .dev.vars already says is kept to the letter, and only what lacks is added', () => {
  const file = join(temporaryDirectory(), '.dev.vars');
  const own = '# mine\nENCRYPTION_KEY=kept\nexport SIGNUP = closed\n#SIGNING_KEY=not this one\nOPENAI_API_KEY="x"';
  writeFileSync(file, own);
  ensureDevelopmentVariables(file);
  const text = readFileSync(file, 'utf8');
  expect(text.startsWith(`${own}\n`)).toBe(true);
  expect([...variableNames(text.slice(own.length))].toSorted()).toEqual(['DEPLOYMENT_MODE', 'SIGNING_KEY']);
});

test('what "wrangler dev" writes is written anew at each start, in its own part, and is nothing that the owner has set', () => {
  const file = join(temporaryDirectory(), '.dev.vars');
  writeFileSync(file, 'SIGNUP=closed\n');
  const derive = (port: string) => (alreadySet: Set<string>) => portVariables(readLocalSettings({ SIM_PORT: port }), alreadySet);
  expect(ensureDevelopmentVariables(file, derive('9001'))).not.toContain('OPENAI_BASE_URL');
  ensureDevelopmentVariables(file, derive('9002'));
  const text = readFileSync(file, 'utf8');
  expect(valueOf(text, 'OPENAI_BASE_URL')).toBe('http://127.0.0.1:9002/openai/v1');
  expect(text).not.toContain('9001');
  ensureDevelopmentVariables(file, derive('9002'));
  expect(readFileSync(file, 'utf8')).toBe(text);

  writeFileSync(file, `${text}OPENAI_API_KEY="real"\n`);
  const names = ensureDevelopmentVariables(file);
  const mixed = readFileSync(file, 'utf8');
  expect(names).toContain('OPENAI_API_KEY');
  expect(mixed).not.toContain('OPENAI_BASE_URL');
  expect(mixed.match(/OPENAI_API_KEY/g)).toHaveLength(1);
  expect(valueOf(mixed, 'OPENAI_API_KEY')).toBe('real');
  expect(valueOf(mixed, 'COMPOSIO_BASE_URL')).toContain(':9002/');
  expect(mixed.startsWith('SIGNUP=closed\n')).toBe(true);
});

test('completing twice changes nothing more', () => {
  const line = fc.oneof(fc.constantFrom('SIGNUP=open', 'ENCRYPTION_KEY="k"', '# a comment', ''), fc.string());
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const once = completeVariables(lines.join('\n'));
      return completeVariables(once) === once && once.startsWith(lines.join('\n'));
    }),
  );
});

test('the service takes what is made for it, and knows itself as local with open sign-up', () => {
  const variables = Object.fromEntries([...completeVariables('').matchAll(/^(\w+)="(.*)"$/gm)].map(([, name, value]) => [name, value]));
  const settings = getSettings({ ...variables, ...portVariables(readLocalSettings({}), new Set()) } as unknown as Env);
  expect(settings).toMatchObject({
    DEPLOYMENT_MODE: 'local',
    SIGNUP: 'open',
    PUBLIC_URL: 'http://127.0.0.1:8787',
    ALLOWED_PRIVATE_ORIGINS: ['http://127.0.0.1:8788', 'http://localhost:8788'],
    OPENAI_BASE_URL: 'http://127.0.0.1:8788/openai/v1',
  });
});
