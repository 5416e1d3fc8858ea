import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { apps } from '../../src/library/connectable-apps.ts';
import { linesLoggedBy } from '../http/service.ts';
import { tickAt } from '../support/background.ts';
import {
  readBrokerAccount,
  connectIntegration,
  decideConsent,
  setAccountStatus,
  finalizeConnecting,
  planFault,
  startConnecting,
} from '../support/integrations.ts';
import { newOrganization } from '../support/organization.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const requestsOf = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM connection_request WHERE organization_id = ?').bind(organizationId).all<any>()).results;

describe('connecting', () => {
  test.each(apps)('%s goes from a request over consent to an active integration', async (provider) => {
    const { client, id, userId } = await newOrganization();
    const started = await startConnecting(client, provider);
    expect(started).toMatchObject({ status: 200, body: { request_id: expect.any(String), redirect_url: expect.stringMatching(/^http/) } });
    const { request_id, redirect_url } = started.body;
    const early = await finalizeConnecting(client, request_id, provider);
    expect(early).toMatchObject({ status: 409, body: { detail: expect.stringContaining('pending') } });
    await decideConsent(redirect_url);
    const done = await finalizeConnecting(client, request_id, provider);
    expect(done.status).toBe(200);
    expect(done.body).toEqual({
      id: expect.any(Number),
      integration_id: request_id,
      organisation_id: id,
      created_by: userId,
      provider,
      is_active: true,
      created_at: timestamp,
      action: 'all_calls',
      provider_data: { chatapp: { channel: null }, tracker: { project: null, issue_type: null } }[provider as string] ?? {},
      account_label: provider === 'tracker' ? 'acme.atlassian.net' : null,
      last_synced_at: null,
      last_error: null,
      updated_at: timestamp,
    });
    expect((await finalizeConnecting(client, request_id, provider)).body).toEqual(done.body);
    expect((await startConnecting(client, provider)).body).toEqual({ request_id, redirect_url: null });
    expect((await client.get('/integration/')).body).toEqual([done.body]);
    expect((await client.get(`/integration/${provider}/status`)).body).toEqual({
      provider,
      connected: true,
      id: done.body.id,
      integration_id: request_id,
      is_active: true,
      account_label: done.body.account_label,
      last_synced_at: null,
      last_error: null,
    });
    expect(await requestsOf(id)).toEqual([]);
    expect((await readBrokerAccount(request_id))?.user_id).toBe(`org_${id}`);
  });

  test('an unknown provider is 400 and names those that are known, everywhere', async () => {
    const { client } = await newOrganization();
    for (const answer of [
      await client.post('/integration/connect', { provider: 'faxmachine' }),
      await client.post('/integration/connect/finalize', { provider: 'faxmachine', connected_account_id: 'ca_1' }),
      await client.get('/integration/faxmachine/status'),
    ])
      expect(answer).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/faxmachine.*chatapp, tracker, calendar, books, sheet/) },
      });
  });

  test.each([
    [undefined, 'missing'],
    [{}, 'missing'],
    [{ subdomain: '' }, 'missing'],
    [{ subdomain: 7 }, 'value_error'],
    [{ subdomain: 'acme.atlassian.net' }, 'value_error'],
    [{ subdomain: 'https://acme' }, 'value_error'],
    [{ subdomain: '-acme' }, 'value_error'],
    [{ subdomain: 'internal/../x' }, 'value_error'],
  ])('a tracker with the parameters %j is 422 at the subdomain', async (connection_params, type) => {
    const { client, id } = await newOrganization();
    const { status, body } = await client.post('/integration/connect', { provider: 'tracker', connection_params });
    expect(status).toBe(422);
    expect(body.detail).toEqual([{ loc: ['body', 'connection_params', 'subdomain'], msg: expect.any(String), type }]);
    expect(await requestsOf(id)).toEqual([]);
  });

  test('a subdomain is taken without regard to case and blanks', async () => {
    const { client } = await newOrganization();
    const integration = await connectIntegration(client, 'tracker', { params: { subdomain: ' ACME ' } });
    expect(integration.account_label).toBe('acme.atlassian.net');
  });

  test('books in an unknown data centre are 422, and in a known one are asked there', async () => {
    const { client } = await newOrganization();
    const wrong = await startConnecting(client, 'books', { region: 'us' });
    expect(wrong.body.detail).toMatchObject([{ loc: ['body', 'connection_params', 'region'], msg: expect.stringContaining('com.au') }]);
    const { id } = await connectIntegration(client, 'books', { params: { region: 'eu' } });
    const row = await env.DB.prepare('SELECT connection_params FROM integration WHERE id = ?').bind(id).first<any>();
    expect(JSON.parse(row.connection_params)).toEqual({ region: 'eu' });
    expect((await client.get(`/integration/${id}/books/organizations`)).status).toBe(200);
  });

  test.each([{}, { provider: 7 }, { provider: 'chatapp', connection_params: 'acme' }])('the body %j is 422', async (body) => {
    const { client } = await newOrganization();
    expect((await client.post('/integration/connect', body)).status).toBe(422);
  });

  test('a refused consent is 400 at finalize, gives its place back, and one can begin again', async () => {
    const { client, id } = await newOrganization({ maxIntegrations: 1 });
    const { body } = await startConnecting(client, 'chatapp');
    await decideConsent(body.redirect_url, 'deny');
    const denied = await finalizeConnecting(client, body.request_id, 'chatapp');
    expect(denied).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/failed.*begin again/) } });
    expect(await requestsOf(id)).toEqual([]);
    expect((await startConnecting(client, 'sheet')).status).toBe(200);
  });

  test.each(['EXPIRED', 'REVOKED', 'INACTIVE'] as const)('a connection that is %s at the broker is 400 at finalize', async (status) => {
    const { client } = await newOrganization();
    const { body } = await startConnecting(client, 'chatapp');
    await setAccountStatus(body.request_id, status);
    expect((await finalizeConnecting(client, body.request_id, 'chatapp')).status).toBe(400);
  });

  test('a connection is finalized as the provider that it is of', async () => {
    const { client } = await newOrganization();
    const { body } = await startConnecting(client, 'chatapp');
    await decideConsent(body.redirect_url);
    const wrong = await finalizeConnecting(client, body.request_id, 'calendar');
    expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringContaining('chatapp') } });
    expect((await finalizeConnecting(client, body.request_id, 'chatapp')).status).toBe(200);
    expect((await finalizeConnecting(client, body.request_id, 'calendar')).status).toBe(400);
  });

  test('a consent that nobody has finalized is found by the next connect', async () => {
    const { client } = await newOrganization();
    const { body } = await startConnecting(client, 'calendar');
    await decideConsent(body.redirect_url);
    expect((await startConnecting(client, 'calendar')).body).toEqual({ request_id: body.request_id, redirect_url: null });
    expect((await finalizeConnecting(client, body.request_id, 'calendar')).status).toBe(200);
  });

  test('a consent to one site of a tracker is not taken for one to another, and does not outlive it', async () => {
    const { client } = await newOrganization();
    const first = await startConnecting(client, 'tracker', { subdomain: 'acme' });
    await decideConsent(first.body.redirect_url);
    const second = await startConnecting(client, 'tracker', { subdomain: 'other' });
    expect(second.body.redirect_url).not.toBeNull();
    expect(await readBrokerAccount(first.body.request_id)).toBeNull();
    await decideConsent(second.body.redirect_url);
    expect((await finalizeConnecting(client, second.body.request_id, 'tracker')).body.account_label).toBe('other.atlassian.net');
  });

  test('of two requests for one provider either may be consented to', async () => {
    const { client, id } = await newOrganization();
    const first = await startConnecting(client, 'chatapp');
    const second = await startConnecting(client, 'chatapp');
    expect(second.body.request_id).not.toBe(first.body.request_id);
    expect(await requestsOf(id)).toMatchObject([{ id: second.body.request_id, redirect_url: second.body.redirect_url }]);
    await decideConsent(first.body.redirect_url);
    const integration = await finalizeConnecting(client, first.body.request_id, 'chatapp');
    expect(integration.status).toBe(200);
    await decideConsent(second.body.redirect_url);
    const replaced = await finalizeConnecting(client, second.body.request_id, 'chatapp');
    expect(replaced.body).toMatchObject({ id: integration.body.id, integration_id: second.body.request_id });
    await expect.poll(() => readBrokerAccount(first.body.request_id)).toBeNull();
    expect((await client.get('/integration/')).body).toHaveLength(1);
  });

  test.each(['sheet', 'tracker'] as const)('many finalize %s at once, and there is one integration', async (provider) => {
    const { client } = await newOrganization();
    const { body } = await startConnecting(client, provider);
    await decideConsent(body.redirect_url);
    const all = await Promise.all(Array.from({ length: 5 }, () => finalizeConnecting(client, body.request_id, provider)));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(all.map((one) => one.body.id)).size).toBe(1);
    expect((await client.get('/integration/')).body).toHaveLength(1);
  });

  test('a request that was replaced cannot say which site it was for, and is begun again', async () => {
    const { client } = await newOrganization();
    const first = await startConnecting(client, 'tracker', { subdomain: 'acme' });
    await startConnecting(client, 'tracker', { subdomain: 'other' });
    await decideConsent(first.body.redirect_url);
    const late = await finalizeConnecting(client, first.body.request_id, 'tracker');
    expect(late).toMatchObject({ status: 400, body: { detail: expect.stringContaining('POST /integration/connect') } });
  });

  test('when the broker fails, nothing is connected and no place is taken', async () => {
    const { client, id } = await newOrganization();
    await planFault({ provider: 'composio', match: { method: 'POST', path: '*connected_accounts/link' }, status: 500 });
    const answer = await startConnecting(client, 'chatapp');
    expect(answer).toMatchObject({ status: 502, body: { detail: expect.stringContaining('broker') } });
    expect(await requestsOf(id)).toEqual([]);
    expect((await startConnecting(client, 'chatapp')).status).toBe(200);
  });
});

describe('a service that dies while it connects', () => {
  const failedHere = expect.stringContaining('the process ends here');
  const dyingAt = (words: RegExp) => async (sql: string[]) => {
    if (sql.some((text) => words.test(text))) throw new Error('the process ends here');
  };

  test('before it knows how the broker calls the request, lets one begin again', async () => {
    const { client, key } = await newOrganization({ maxIntegrations: 1 });
    const { client: dying } = recordedClient(key, { beforeCall: dyingAt(/^(update|delete from) "connection_request"/) });
    expect(await linesLoggedBy(() => startConnecting(dying, 'tracker'))).toMatchObject([failedHere]);
    await connectIntegration(client, 'tracker');
  });

  test('before it has written the integration, finalizes at the next try', async () => {
    const { client, key } = await newOrganization();
    const { body } = await startConnecting(client, 'tracker');
    await decideConsent(body.redirect_url);
    const { client: dying } = recordedClient(key, { beforeCall: dyingAt(/INSERT INTO integration /) });
    expect(await linesLoggedBy(() => finalizeConnecting(dying, body.request_id, 'tracker'))).toMatchObject([failedHere]);
    expect((await finalizeConnecting(client, body.request_id, 'tracker')).status).toBe(200);
  });

  test('between the end of the grant and that of the integration, disconnects at the next try', async () => {
    const { client, key } = await newOrganization();
    const { id } = await connectIntegration(client, 'calendar');
    const { client: dying } = recordedClient(key, { beforeCall: dyingAt(/^UPDATE integration /) });
    expect(await linesLoggedBy(() => dying.post(`/integration/${id}/disconnect`))).toMatchObject([failedHere]);
    expect((await client.post(`/integration/${id}/disconnect`)).status).toBe(200);
    expect((await client.get('/integration/')).body).toEqual([]);
  });
});

describe('what it costs', () => {
  test('the list takes one call, and no statement reads what is not of the organization', async () => {
    const { client, key } = await newOrganization();
    for (const provider of apps) await connectIntegration(client, provider);
    const { client: counted, recording } = recordedClient(key);
    expect((await counted.get('/integration/')).body).toHaveLength(5);
    await counted.get('/integration/sheet/status');
    expect(recording.calls).toBe(2);
    await startConnecting(counted, 'sheet');
    for (const { sql, plan: steps } of await explainQueryPlans(recording))
      expect([sql, steps.filter((step) => /^SCAN \w/.test(step))]).toEqual([sql, []]);
  });
});

describe('the plan', () => {
  test('allows as many integrations as it says, connected ones and requests together', async () => {
    const { client } = await newOrganization({ maxIntegrations: 2 });
    await connectIntegration(client, 'chatapp');
    expect((await startConnecting(client, 'calendar')).status).toBe(200);
    const beyond = await startConnecting(client, 'sheet');
    expect(beyond).toMatchObject({ status: 400, body: { detail: expect.stringContaining('allows 2 integrations,') } });
    expect((await startConnecting(client, 'calendar')).status).toBe(200);
    expect((await startConnecting(client, 'chatapp')).body.redirect_url).toBeNull();
  });

  test('gives its last place to one of many who ask at once', async () => {
    const { client } = await newOrganization({ maxIntegrations: 1 });
    const answers = await Promise.all(apps.map((provider) => startConnecting(client, provider)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
  });

  test('takes a place back when a request has expired, and forgets the request', async () => {
    const { client, id } = await newOrganization({ maxIntegrations: 1 });
    await startConnecting(client, 'calendar');
    expect((await startConnecting(client, 'sheet')).status).toBe(400);
    await env.DB.prepare('UPDATE connection_request SET expires_at = ? WHERE organization_id = ?')
      .bind(Date.now() - 1, id)
      .run();
    await tickAt(Date.now());
    expect(await requestsOf(id)).toHaveLength(1);
    await env.DB.prepare('UPDATE connection_request SET expires_at = ? WHERE organization_id = ?')
      .bind(Date.now() - 3_600_001, id)
      .run();
    await tickAt(Date.now());
    expect(await requestsOf(id)).toEqual([]);
    expect((await startConnecting(client, 'sheet')).status).toBe(200);
  });

  test('has no place for a request that expired while another took its place', async () => {
    const { client, id } = await newOrganization({ maxIntegrations: 1 });
    const { body } = await startConnecting(client, 'calendar');
    await decideConsent(body.redirect_url);
    await env.DB.prepare('UPDATE connection_request SET expires_at = ? WHERE organization_id = ?')
      .bind(Date.now() - 1, id)
      .run();
    const other = await startConnecting(client, 'sheet');
    expect(other.status).toBe(200);
    expect(await finalizeConnecting(client, body.request_id, 'calendar')).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('allows 1 integration,') },
    });
    expect((await client.get('/integration/')).body).toEqual([]);
  });

  test('is free again after a disconnect', async () => {
    const { client } = await newOrganization({ maxIntegrations: 1 });
    const { id } = await connectIntegration(client, 'chatapp');
    expect((await startConnecting(client, 'sheet')).status).toBe(400);
    await client.post(`/integration/${id}/disconnect`);
    expect((await startConnecting(client, 'sheet')).status).toBe(200);
  });
});

describe('disconnecting', () => {
  test('ends the grant, removes the integration, and the next consent is a fresh one with a new id', async () => {
    const { client } = await newOrganization();
    const { id, integration_id } = await connectIntegration(client, 'chatapp');
    expect(await client.post(`/integration/${id}/disconnect`)).toMatchObject({ status: 200, body: { status: 'disconnected' } });
    expect(await readBrokerAccount(integration_id)).toBeNull();
    expect((await client.get('/integration/')).body).toEqual([]);
    for (const answer of [
      await client.get('/integration/chatapp/status'),
      await client.get('/integration/chatapp/channels'),
      await client.post(`/integration/${id}/disconnect`),
      await client.put(`/integration/${id}`, { action: 'qualified_calls' }),
      await finalizeConnecting(client, integration_id, 'chatapp'),
    ])
      expect(answer.status).toBe(404);
    const again = await connectIntegration(client, 'chatapp');
    expect(again.id).not.toBe(id);
  });

  test('leaves no consent behind that was given twice and finalized once', async () => {
    const { client } = await newOrganization();
    const [first, second] = [await startConnecting(client, 'chatapp'), await startConnecting(client, 'chatapp')];
    for (const { body } of [first, second]) await decideConsent(body.redirect_url);
    const { body } = await finalizeConnecting(client, second.body.request_id, 'chatapp');
    await client.post(`/integration/${body.id}/disconnect`);
    expect(await readBrokerAccount(first.body.request_id)).toBeNull();
    expect((await startConnecting(client, 'chatapp')).body.redirect_url).not.toBeNull();
  });

  test('by two at once ends one integration', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const both = await Promise.all([client.post(`/integration/${id}/disconnect`), client.post(`/integration/${id}/disconnect`)]);
    expect(both.map(({ status }) => status)).toContain(200);
    for (const { status } of both) expect([200, 404, 409]).toContain(status);
    expect((await client.get('/integration/')).body).toEqual([]);
  });

  test('changes nothing when the broker cannot end the grant', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'chatapp');
    await planFault({ provider: 'composio', match: { method: 'POST', path: '*/revoke' }, status: 500 });
    await planFault({ provider: 'composio', match: { method: 'DELETE' }, status: 500 });
    expect((await client.post(`/integration/${id}/disconnect`)).status).toBe(502);
    expect((await client.get('/integration/chatapp/channels')).status).toBe(200);
    expect((await client.post(`/integration/${id}/disconnect`)).status).toBe(200);
  });

  test('also does for one whose grant has ended by itself', async () => {
    const { client } = await newOrganization();
    const { id, integration_id } = await connectIntegration(client, 'chatapp');
    await setAccountStatus(integration_id, 'REVOKED');
    await client.get('/integration/chatapp/channels');
    expect((await client.get('/integration/')).body).toMatchObject([{ id, is_active: false }]);
    expect((await client.post(`/integration/${id}/disconnect`)).status).toBe(200);
    expect((await client.get('/integration/')).body).toEqual([]);
  });
});

describe('a grant that has ended', () => {
  test.each(['EXPIRED', 'REVOKED', 'FAILED', 'INACTIVE'] as const)(
    '(%s) is not_connected, shown with its reason, and connected again under the same id',
    async (status) => {
      const { client } = await newOrganization({ maxIntegrations: 1 });
      const before = await connectIntegration(client, 'chatapp');
      await client.put(`/integration/${before.id}`, { channel: 'C0000000001' });
      await setAccountStatus(before.integration_id, status);
      const answer = await client.get('/integration/chatapp/channels');
      expect(answer).toMatchObject({ status: 404, body: { detail: 'not_connected', message: expect.any(String) } });
      expect(await client.get('/integration/chatapp/status')).toMatchObject({
        status: 404,
        body: { detail: 'not_connected', message: expect.stringMatching(/^chatapp/) },
      });
      expect((await client.get('/integration/')).body).toMatchObject([
        { id: before.id, is_active: false, last_error: expect.stringContaining('connect it again') },
      ]);
      const after = await connectIntegration(client, 'chatapp');
      expect(after).toMatchObject({ id: before.id, is_active: true, last_error: null, provider_data: { channel: 'C0000000001' } });
      expect(after.integration_id).not.toBe(before.integration_id);
      expect((await client.get('/integration/chatapp/channels')).status).toBe(200);
    },
  );

  test('is noticed by connect, although nobody has used it', async () => {
    const { client } = await newOrganization();
    const { integration_id } = await connectIntegration(client, 'calendar');
    await setAccountStatus(integration_id, 'EXPIRED');
    const again = await startConnecting(client, 'calendar');
    expect(again.body.redirect_url).not.toBeNull();
    expect((await client.get('/integration/')).body).toMatchObject([{ is_active: false, last_error: expect.stringContaining('expired') }]);
  });

  test('at the provider alone is not connected again by what the broker still believes', async () => {
    const { client } = await newOrganization();
    const { id, integration_id } = await connectIntegration(client, 'chatapp');
    await planFault({ provider: 'slack', status: 200, body: { ok: false, error: 'token_revoked' } });
    expect((await client.get('/integration/chatapp/channels')).status).toBe(404);
    expect((await readBrokerAccount(integration_id))?.status).toBe('ACTIVE');
    const again = await startConnecting(client, 'chatapp');
    expect(again.body.redirect_url).not.toBeNull();
    expect(await readBrokerAccount(integration_id)).toBeNull();
    await decideConsent(again.body.redirect_url);
    expect((await finalizeConnecting(client, again.body.request_id, 'chatapp')).body).toMatchObject({ id, is_active: true });
  });

  test('takes no place of the plan', async () => {
    const { client } = await newOrganization({ maxIntegrations: 1 });
    const { integration_id } = await connectIntegration(client, 'chatapp');
    await setAccountStatus(integration_id, 'REVOKED');
    await client.get('/integration/chatapp/channels');
    expect((await startConnecting(client, 'sheet')).status).toBe(200);
  });
});

describe('another organization', () => {
  test('cannot finalize, see, use or end a connection', async () => {
    const { client } = await newOrganization();
    const { client: stranger } = await newOrganization();
    const pending = await startConnecting(client, 'calendar');
    await decideConsent(pending.body.redirect_url);
    expect((await finalizeConnecting(stranger, pending.body.request_id, 'calendar')).status).toBe(404);
    const { id, integration_id } = await connectIntegration(client, 'sheet');
    const books = await connectIntegration(client, 'books');
    const contact = await client.post('/contacts', { email: 'ada@example.com' });
    expect((await finalizeConnecting(stranger, integration_id, 'sheet')).status).toBe(404);
    expect((await finalizeConnecting(stranger, 'ca_unknown', 'sheet')).status).toBe(404);
    expect((await stranger.get('/integration/')).body).toEqual([]);
    const mapping = { field_mapping: { phone: 'Phone' } };
    expect((await stranger.get('/integration/sheet/status')).status).toBe(404);
    for (const answer of [
      await stranger.put(`/integration/${id}`, { action: 'all_calls' }),
      await stranger.post(`/integration/${id}/disconnect`),
      await stranger.get(`/integration/${id}/field-mapping`),
      await stranger.put(`/integration/${id}/field-mapping`, mapping),
      await stranger.post(`/integration/${id}/resync`),
      await stranger.get(`/integration/${id}/sheet/search`),
      await stranger.get(`/integration/${id}/sheet/headers?sheet_url=x`),
      await stranger.post(`/integration/${id}/sheet/select`, { sheet_url: 'x', contact_list_name: 'y', ...mapping }),
      await stranger.get(`/integration/${books.id}/books/organizations`),
      await stranger.post(`/integration/${books.id}/books/organization`, { organization_id: '10234695' }),
      await stranger.post(`/integration/${books.id}/contacts/${contact.body.id}/push`),
    ])
      expect(answer).toMatchObject({ status: 404, body: { detail: 'Integration not found' } });
    expect((await client.get('/integration/')).body).toHaveLength(2);
  });

  test('has connections of its own to the same provider', async () => {
    const { client } = await newOrganization();
    const { client: stranger } = await newOrganization();
    const [one, other] = [await connectIntegration(client, 'chatapp'), await connectIntegration(stranger, 'chatapp')];
    await client.post(`/integration/${one.id}/disconnect`);
    expect((await stranger.get('/integration/chatapp/status')).body.id).toBe(other.id);
  });
});

describe('a key that may only read', () => {
  test('reads, and connects, changes and ends nothing', async () => {
    const { client, id } = await newOrganization();
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    for (const answer of [
      await startConnecting(reader, 'chatapp'),
      await finalizeConnecting(reader, 'ca_1', 'chatapp'),
      await reader.post('/integration/1/disconnect'),
      await reader.put('/integration/1', {}),
      await reader.post('/integration/1/resync'),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('insufficient_scope') } });
    expect((await reader.get('/integration')).body).toEqual([]);
    expect((await client.get('/integration/chatapp/status')).status).toBe(404);
    expect(await requestsOf(id)).toEqual([]);
  });
});
