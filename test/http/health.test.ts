import { describe, expect, test, vi } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { codeMigrations } from '../../src/database/migration-state.ts';
import { Client } from '../support/organization.ts';
import { anonymous, linesLoggedBy, serviceWith } from './service.ts';

const healthWith = (changes: Record<string, unknown>) => new Client(undefined, serviceWith(changes)).get('/health');

/** A database that answers the question for its migrations this way; `asked` counts. */
function databaseAnswering(answer: () => Promise<string[]>) {
  const all = vi.fn(async () => ({ results: (await answer()).map((name) => ({ name })) }));
  return { asked: all, binding: { prepare: () => ({ all }) } };
}

const noTable = new Error('D1_ERROR: no such table: d1_migrations: SQLITE_ERROR');

test('is answered without credentials', async () => {
  const answer = await anonymous.get('/health');
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    status: 'ok',
    version: packageFile.version,
    backend_api_endpoint: 'https://service.test/api/v1',
    deployment_mode: 'local',
    auth_provider: 'local',
  });
});

test('names the public address where one is set', async () => {
  const { body } = await healthWith({ PUBLIC_URL: 'https://calls.example.com/', DEPLOYMENT_MODE: 'cloud' });
  expect(body).toMatchObject({ backend_api_endpoint: 'https://calls.example.com/api/v1', deployment_mode: 'cloud' });
});

describe('503 says', () => {
  test.each([
    ['which migrations a database lacks', async () => codeMigrations.slice(0, -2), 'migrations_missing', codeMigrations.slice(-2)],
    ['that a database is new', async () => Promise.reject(noTable), 'migrations_missing', codeMigrations],
    [
      'which migrations a database has from a later version',
      async () => [...codeMigrations, '9999_later.sql'],
      'database_newer',
      ['9999_later.sql'],
    ],
    ['first what is missing', async () => [...codeMigrations.slice(1), '9999_later.sql'], 'migrations_missing', [codeMigrations[0]]],
    ['that a database does not answer', async () => Promise.reject(new Error('D1_ERROR: secret-word')), 'database_unreachable', []],
  ])('%s', async (_promise, answer, status, migrations) => {
    const { status: code, body } = await healthWith({ DB: databaseAnswering(answer).binding });
    expect(code).toBe(503);
    expect(body).toEqual({ status, detail: expect.stringContaining('The database DB '), migrations, version: packageFile.version });
    for (const name of migrations) expect(body.detail).toContain(name);
    expect(body.detail).not.toContain('secret-word');
  });

  test('that a database is silent, after 5 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = healthWith({ DB: databaseAnswering(() => new Promise(() => undefined)).binding });
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await asked).toMatchObject({ status: 503, body: { status: 'database_unreachable' } });
    } finally {
      vi.useRealTimers();
    }
  });

  test('which of several databases it is', async () => {
    const { body } = await healthWith({ DB_1: databaseAnswering(async () => []).binding });
    expect(body).toMatchObject({ status: 'migrations_missing', migrations: codeMigrations });
    expect(body.detail).toContain('The database DB_1 lacks');
  });

  test('that a setting is wrong, which the log alone names', async () => {
    let answer;
    const lines = await linesLoggedBy(async () => {
      answer = await healthWith({ ENCRYPTION_KEY: 'short' });
    });
    expect(answer).toMatchObject({ status: 503, body: { status: 'misconfigured', migrations: [] } });
    expect(JSON.stringify(answer!.body)).not.toContain('ENCRYPTION_KEY');
    expect(lines.join()).toContain('ENCRYPTION_KEY: must be 32 random bytes in base64');
  });
});

test('a good answer holds for five seconds, a bad one is looked at again at once', async () => {
  let applied: string[] = [];
  const { asked, binding } = databaseAnswering(async () => applied);
  const client = new Client(undefined, serviceWith({ DB: binding }));
  const statuses = async (count: number) =>
    (await Promise.all(Array.from({ length: count }, () => client.get('/health')))).map((answer) => answer.status);
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    expect(await statuses(3)).toEqual([503, 503, 503]);
    const questions = asked.mock.calls.length;
    applied = codeMigrations;
    expect(await statuses(1)).toEqual([200]);
    expect(asked).toHaveBeenCalledTimes(questions + 1);
    applied = [];
    vi.setSystemTime(Date.now() + 4_900);
    expect(await statuses(2)).toEqual([200, 200]);
    expect(asked).toHaveBeenCalledTimes(questions + 1);
    vi.setSystemTime(Date.now() + 200);
    expect(await statuses(1)).toEqual([503]);
  } finally {
    vi.useRealTimers();
  }
});
