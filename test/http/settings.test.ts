import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { getSettings } from '../../src/settings.ts';
import { Client } from '../support/organization.ts';
import { linesLoggedBy, serviceWith } from './service.ts';

const secret = btoa('a-secret-that-must-not-be-shown!!');

const faultOf = (name: string, value: unknown) => () => getSettings({ ...env, [name]: value } as unknown as Env);

describe('a bad setting', () => {
  test.each([
    ['ENCRYPTION_KEY', undefined],
    ['ENCRYPTION_KEY', ''],
    ['ENCRYPTION_KEY', 'not base64 at all!'],
    ['SIGNING_KEY', undefined],
    ['SIGNING_KEY', secret],
    ['DEPLOYMENT_MODE', 'laptop-secret-word'],
    ['SIGNUP', 'yes-secret-word'],
    ['LOG_LEVEL', 'loud-secret-word'],
    ['PUBLIC_URL', 'calls secret-word'],
    ['PLAN_MAX_CONTACTS', 'many-secret-word'],
    ['PLAN_MAX_INTEGRATIONS', '-3'],
    ['RATE_LIMIT_REQUESTS', '0'],
    ['RETENTION_DAYS', '1.5'],
    ['OPENAI_BASE_URL', 'the model secret-word'],
    ['ANTHROPIC_BASE_URL', 'the model secret-word'],
    ['LANGUAGE_MODEL', ' '],
    ['COMPOSIO_BASE_URL', 'the broker secret-word'],
    ['COMPOSIO_AUTH_CONFIGS', 'fax=secret-word'],
    ['COMPOSIO_AUTH_CONFIGS', 'chatapp'],
  ])('%s=%s is named in the log at the first request; the caller learns nothing, and no value is shown', async (name, value) => {
    const client = new Client(undefined, serviceWith({ [name]: value }));
    let answer;
    const lines = await linesLoggedBy(async () => {
      answer = await client.get('/contacts');
    });
    expect(answer).toMatchObject({ status: 500, body: { detail: 'Internal server error' } });
    expect(answer!.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const logged = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatchObject({
      message: 'request failed',
      request_id: answer!.headers.get('x-request-id'),
      path: '/api/v1/contacts',
    });
    expect(logged[0].error).toMatch(new RegExp(`Bad settings \\(${name}: .+\\)\\. Set them in .dev.vars`));
    for (const shown of ['secret-word', 'not base64', secret]) expect(lines.join()).not.toContain(shown);
  });

  test('is reported by its fault', () => {
    expect(faultOf('ENCRYPTION_KEY', undefined)).toThrow('(ENCRYPTION_KEY: is missing)');
    expect(faultOf('SIGNING_KEY', 'c2hvcnQ=')).toThrow('(SIGNING_KEY: must be 32 random bytes in base64)');
    for (const value of ['0', '-3', '1.5', 'many', ''])
      expect(faultOf('RETENTION_DAYS', value)).toThrow('(RETENTION_DAYS: must be a whole number above 0)');
    expect(faultOf('PUBLIC_URL', 'calls')).toThrow('(PUBLIC_URL: must be an address such as https://calls.example.com, or empty)');
    expect(faultOf('SIGNUP', 'perhaps')).toThrow(/SIGNUP: .*"open"\|"closed"/);
  });

  test('is reported together with all the others', () => {
    const bad = { ...env, ENCRYPTION_KEY: undefined, SIGNING_KEY: undefined, SIGNUP: 'perhaps' } as unknown as Env;
    expect(() => getSettings(bad)).toThrow(/SIGNUP: .*; ENCRYPTION_KEY: .*; SIGNING_KEY: /);
  });
});

test('what is not set has its default', () => {
  const { ENCRYPTION_KEY, SIGNING_KEY } = env as unknown as Record<string, string>;
  expect(getSettings({ ENCRYPTION_KEY, SIGNING_KEY } as unknown as Env)).toMatchObject({
    DEPLOYMENT_MODE: 'cloud',
    SIGNUP: 'closed',
    LOG_LEVEL: 'info',
    PUBLIC_URL: '',
    PLAN_MAX_INTEGRATIONS: 10,
    PLAN_MAX_CONTACTS: 1_000_000,
    PLAN_CONCURRENT_CALLS: 100,
    RATE_LIMIT_REQUESTS: 600,
    RETENTION_DAYS: 90,
    CALL_RETENTION_DAYS: 365,
    TEST_RETENTION_DAYS: 90,
    CAMPAIGN_RETENTION_DAYS: 90,
    UPLOAD_RETENTION_DAYS: 30,
    SCHEDULE_FIRE_DAYS: 7,
    ARCHIVE_DAYS: 1095,
    DATABASE_LIMIT_MEGABYTES: 10_000,
    FIRST_OPEN_SHARD: 0,
    OPENAI_API_KEY: '',
    OPENAI_BASE_URL: 'https://api.openai.com/v1',
    ANTHROPIC_BASE_URL: 'https://api.anthropic.com',
    LANGUAGE_MODEL: 'gpt-6-luna',
  });
});

test.each([
  ['cloud', undefined, 'vectorize'],
  ['local', undefined, 'embedded'],
  ['local', 'vectorize', 'vectorize'],
  ['cloud', 'embedded', 'embedded'],
])('vectors of new organizations: DEPLOYMENT_MODE %s and VECTOR_BACKEND %s are %s', (mode, backend, expected) => {
  const bindings = { ...env, DEPLOYMENT_MODE: mode, VECTOR_BACKEND: backend } as unknown as Env;
  expect(getSettings(bindings).VECTOR_BACKEND).toBe(expected);
});
