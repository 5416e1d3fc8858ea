import { describe, expect, onTestFinished, test } from 'vitest';
import { createChecks } from '../../scripts/check-providers/checks.ts';
import { runChecks, hasRefusal, formatTable } from '../../scripts/check-providers/report.ts';
import { simulatedAuthConfigs } from '../../scripts/local/settings.ts';
import { listen } from '../../simulators/listen.ts';
import { getSettings } from '../../src/settings.ts';

const key = btoa('test-encryption-key-of-32-bytes!');

async function start(more: Record<string, string> = {}) {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const variables: Record<string, string> = {
    OPENAI_API_KEY: 'canary-openai',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'canary-twilio',
    TELNYX_API_KEY: 'canary-telnyx',
    TELNYX_CONNECTION_ID: '7267000000000000001',
    META_ACCESS_TOKEN: 'canary-meta',
    META_PHONE_NUMBER_ID: '1001',
    META_WABA_ID: '2002',
    WATI_API_ENDPOINT: `${url}/wati/1`,
    WATI_API_TOKEN: 'Bearer canary-wati',
    GUPSHUP_API_KEY: 'canary-gupshup',
    GUPSHUP_APP_NAME: 'DemoApp',
    COMPOSIO_API_KEY: 'canary-composio',
    COMPOSIO_AUTH_CONFIGS: simulatedAuthConfigs,
    ...more,
  };
  const addresses = {
    OPENAI_BASE_URL: `${url}/openai/v1`,
    TWILIO_BASE_URL: `${url}/twilio`,
    TELNYX_BASE_URL: `${url}/telnyx/v2`,
    META_BASE_URL: `${url}/meta/v25.0`,
    GUPSHUP_BASE_URL: `${url}/gupshup`,
    COMPOSIO_BASE_URL: `${url}/composio/api/v3.1`,
  };
  const settings = getSettings({
    ENCRYPTION_KEY: key,
    SIGNING_KEY: key,
    ...addresses,
    COMPOSIO_AUTH_CONFIGS: variables['COMPOSIO_AUTH_CONFIGS'],
  } as never);
  const check = () => runChecks(createChecks(settings), variables);
  const requests = async () =>
    ((await (await fetch(`${url}/__sim/requests`)).json()) as { requests: { method: string; path: string }[] }).requests;
  return { check, requests };
}

describe('the check of vendors', () => {
  test('says of each what it saw, and calls and writes to nobody', async () => {
    const { check, requests } = await start();
    const rows = await check();
    expect(rows.map(({ vendor, finding }) => [vendor, finding.state])).toEqual(rows.map(({ vendor }) => [vendor, 'ok']));
    expect(rows).toHaveLength(7);
    expect(hasRefusal(rows)).toBe(false);
    expect(formatTable(rows)).toMatch(/Twilio .*1 numbers that can call, \+15005550006/);
    expect(formatTable(rows)).toMatch(/OpenAI .*1536 dimensions/);
    const posted = (await requests()).filter(({ method }) => method !== 'GET').map(({ path }) => path);
    expect(posted.toSorted()).toEqual(['/v1/chat/completions', '/v1/embeddings']);
  });

  test('says what is not configured, and asks nobody', async () => {
    const { check, requests } = await start({ TWILIO_AUTH_TOKEN: '', OPENAI_API_KEY: '', WATI_API_TOKEN: '' });
    const rows = await check();
    expect(rows.filter(({ finding }) => finding.state === 'not configured').map(({ vendor }) => vendor)).toEqual([
      'OpenAI',
      'Twilio',
      'WATI (provider_a)',
    ]);
    expect(formatTable(rows)).toContain('set TWILIO_AUTH_TOKEN to check it');
    expect((await requests()).some(({ path }) => /Accounts|completions|getMessageTemplates/.test(path))).toBe(false);
  });

  test('says why a vendor refuses in its own words, with the next step and without the key', async () => {
    const bad = Object.fromEntries(
      [
        'OPENAI_API_KEY',
        'TWILIO_AUTH_TOKEN',
        'TELNYX_API_KEY',
        'META_ACCESS_TOKEN',
        'WATI_API_TOKEN',
        'GUPSHUP_API_KEY',
        'COMPOSIO_API_KEY',
      ].map((name) => [name, `canary-invalid-${name}`]),
    );
    const rows = await (await start(bad)).check();
    for (const { vendor, finding } of rows) expect([vendor, finding.state]).toEqual([vendor, 'refused']);
    const table = formatTable(rows);
    expect(hasRefusal(rows)).toBe(true);
    expect(table).toMatch(/Twilio .*status 401: Authenticate/);
    expect(table).toContain('next: set TELNYX_API_KEY to a valid key');
    expect(table).not.toContain('canary');
  });

  test('names auth configs that the broker does not have', async () => {
    const rows = await (await start({ COMPOSIO_AUTH_CONFIGS: 'chatapp=ac_slack,tracker=ac_gone' })).check();
    expect(formatTable(rows)).toContain('the project has no auth config tracker=ac_gone');
  });

  test('says so when a vendor cannot be reached, and goes on with the others', async () => {
    const rows = await (await start({ WATI_API_ENDPOINT: 'http://127.0.0.1:9/1' })).check();
    expect(rows.filter(({ finding }) => finding.state === 'refused')).toMatchObject([
      { vendor: 'WATI (provider_a)', finding: { saw: 'cannot be reached at http://127.0.0.1:9' } },
    ]);
  });
});
