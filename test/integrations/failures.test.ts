import { describe, expect, test } from 'vitest';
import { changeAtGoogle, connectIntegration, deletedUrl, setAccountStatus, leadsUrl, planFault } from '../support/integrations.ts';
import { serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';

/** Every call that asks a provider, with what connects it. */
const calls = {
  chatapp: [(client: Client) => client.get('/integration/chatapp/channels')],
  tracker: [
    (client: Client) => client.get('/integration/tracker/projects'),
    (client: Client) => client.get('/integration/tracker/issue-types?project=OPS'),
  ],
  books: [
    (client: Client, id: number) => client.get(`/integration/${id}/books/organizations`),
    (client: Client, id: number) => client.post(`/integration/${id}/books/organization`, { organization_id: '10234695' }),
  ],
  sheet: [
    (client: Client, id: number) => client.get(`/integration/${id}/sheet/search`),
    (client: Client, id: number) => client.get(`/integration/${id}/sheet/headers?sheet_url=${encodeURIComponent(leadsUrl)}`),
    (client: Client, id: number) => client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'Leads' }),
    (client: Client, id: number) => client.put(`/integration/${id}`, { selected_files: [{ sheet_url: leadsUrl }] }),
  ],
} as const;
type Asked = keyof typeof calls;
const vendors = { chatapp: 'slack', tracker: 'jira', books: 'zohobooks', sheet: 'googlesheets' } as const;
const each = Object.entries(calls).flatMap(([provider, list]) => list.map((call, index) => [provider as Asked, index, call] as const));

describe('404 not_connected', () => {
  test.each([
    '/integration/chatapp/channels',
    '/integration/tracker/projects',
    '/integration/tracker/issue-types?project=OPS',
    '/integration/calendar/status',
    '/integration/books/status',
  ])('GET %s without an active integration', async (path) => {
    const { client } = await newOrganization();
    expect(await client.get(path)).toMatchObject({
      status: 404,
      body: { detail: 'not_connected', message: expect.stringContaining('connect') },
    });
  });

  test.each(each)('%s call %i after its grant has ended', async (provider, _, call) => {
    const { client } = await newOrganization();
    const { id, integration_id } = await connectIntegration(client, provider);
    await setAccountStatus(integration_id, 'REVOKED');
    const first = await call(client, id);
    expect(first).toMatchObject({ status: 404, body: { detail: 'not_connected', message: expect.any(String) } });
    expect((await call(client, id)).body.detail).toBe('not_connected');
    expect((await client.get('/integration/')).body).toMatchObject([{ id, is_active: false, last_error: expect.any(String) }]);
  });
});

describe('403 insufficient_permissions', () => {
  test.each([
    ['chatapp', 'chat:write', 0, 'channels:read'],
    ['tracker', 'write:jira-work', 0, 'scope'],
    ['tracker', 'write:jira-work', 1, 'scope'],
    ['books', 'ZohoBooks.contacts.READ', 0, 'authorized'],
    ['sheet', 'https://www.googleapis.com/auth/spreadsheets', 0, 'scopes'],
    ['sheet', 'https://www.googleapis.com/auth/drive.metadata.readonly', 1, 'scopes'],
    ['sheet', 'https://www.googleapis.com/auth/drive.metadata.readonly', 2, 'scopes'],
  ] as const)('%s granted only %s, call %i: the detail says what is missing', async (provider, scopes, index, missing) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, provider, { scopes });
    const call = calls[provider][index as 0];
    const answer = await call(client, id);
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/^insufficient_permissions: ./) } });
    expect(answer.body.detail).toContain(missing);
    expect((await client.get(`/integration/${provider}/status`)).body).toMatchObject({ is_active: true });
  });

  test('a tracker that was connected for another site', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'tracker', { params: { subdomain: 'acme' } });
    await planFault({ provider: 'jira', status: 200, body: [] });
    expect(await client.get('/integration/tracker/projects')).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^insufficient_permissions: .*acme\.atlassian\.net/) },
    });
  });

  test('a sheet is read without any right to look into the drive', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet', { scopes: 'https://www.googleapis.com/auth/spreadsheets' });
    expect((await calls.sheet[1](client, id)).status).toBe(200);
  });
});

describe('502', () => {
  test.each([
    ['chatapp', 0, '/*'],
    ['tracker', 0, '/oauth/*'],
    ['books', 0, '/books/*'],
    ['sheet', 0, '/drive/*'],
    ['sheet', 1, '/v4/*'],
  ] as const)('%s call %i when the provider fails at %s, however often it is asked', async (provider, index, path) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, provider);
    const call = calls[provider][index as 0];
    await planFault({ provider: vendors[provider], match: { path }, status: 503, times: 3, body: {} });
    expect(await call(client, id)).toMatchObject({ status: 502, body: { detail: expect.stringMatching(/503/) } });
    expect((await call(client, id)).status).toBe(200);
  });

  test('a rate limit is said so, with the wait that the provider asks for, an hour at most', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'chatapp');
    const limited = { provider: 'slack', status: 429, body: { ok: false, error: 'ratelimited' } };
    await planFault({ ...limited, headers: { 'retry-after': '40' } });
    const answer = await client.get('/integration/chatapp/channels');
    expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringContaining('rate limited') } });
    expect(answer.headers.get('retry-after')).toBe('40');
    await planFault({ ...limited, headers: { 'retry-after': '864000' } });
    expect((await client.get('/integration/chatapp/channels')).headers.get('retry-after')).toBe('3600');
  });

  test('a sheet that is deleted, and one that is no spreadsheet', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const workbook = 'https://docs.google.com/spreadsheets/d/workbook/edit';
    for (const [url, words] of [
      [deletedUrl, 'not found'],
      [workbook, 'not supported'],
    ] as const) {
      const choice = { sheet_url: url, contact_list_name: 'Leads', field_mapping: { phone: 'Phone' } };
      for (const answer of [
        await client.get(`/integration/${id}/sheet/headers?sheet_url=${encodeURIComponent(url)}`),
        await client.post(`/integration/${id}/sheet/select`, choice),
        await client.put(`/integration/${id}`, { selected_files: [{ sheet_url: url }] }),
      ])
        expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringContaining(words) } });
    }
  });

  test('a sheet that lies in the bin, although it can still be read', async () => {
    const { client, id: organizationId } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    await changeAtGoogle(organizationId, 'PATCH', '/drive/v3/files/simulated-leads', { trashed: true });
    const answer = await calls.sheet[1](client, id);
    expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringMatching(/"Leads" is in the bin; restore it/) } });
  });

  test('an organization that the books account does not have', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'books');
    const answer = await client.post(`/integration/${id}/books/organization`, { organization_id: '999' });
    expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringMatching(/"999"; it has 10234695 \("Acme"\), 10234696/) } });
  });

  test('a project that the tracker does not have', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'tracker');
    expect(await client.get('/integration/tracker/issue-types?project=NONE')).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining("'NONE'") },
    });
  });

  test('an answer that nobody can understand', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'chatapp');
    await planFault({ provider: 'slack', status: 200, times: 3, body: { ok: true, channels: 'none' } });
    expect(await client.get('/integration/chatapp/channels')).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining('cannot be understood') },
    });
  });

  test('a service without a key of the broker, which says what to set and shows no key', async () => {
    const { client, key } = await newOrganization();
    const { id } = await connectIntegration(client, 'chatapp');
    for (const [COMPOSIO_API_KEY, words] of [
      ['', 'COMPOSIO_API_KEY'],
      ['canary-invalid-key', 'does not accept the key'],
      ['canary-noproxy-key', 'proxy execute'],
    ] as const) {
      const other = new Client(key, serviceWith({ COMPOSIO_API_KEY }));
      const answers = [await other.get('/integration/chatapp/channels')];
      if (!COMPOSIO_API_KEY.includes('noproxy'))
        answers.push(await other.post('/integration/connect', { provider: 'sheet' }), await other.post(`/integration/${id}/disconnect`));
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringContaining(words) } });
        expect(JSON.stringify(answer.body)).not.toContain('canary');
      }
    }
    expect((await client.get('/integration/chatapp/status')).body.is_active).toBe(true);
  });
});
