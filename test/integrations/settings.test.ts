import { describe, expect, test } from 'vitest';
import { connectIntegration, decideConsent, finalizeConnecting, planFault, startConnecting } from '../support/integrations.ts';
import { newOrganization } from '../support/organization.ts';

describe('the settings of an action target', () => {
  test('are kept one by one: absent ones stay, null clears', async () => {
    const { client } = await newOrganization();
    const chat = await connectIntegration(client, 'chatapp');
    const tracker = await connectIntegration(client, 'tracker');
    const put = async (id: number, body: unknown) => (await client.put(`/integration/${id}`, body)).body;
    expect(await put(chat.id, { channel: 'C0000000001' })).toMatchObject({
      action: 'all_calls',
      provider_data: { channel: 'C0000000001' },
    });
    expect(await put(chat.id, { action: 'qualified_calls' })).toMatchObject({
      action: 'qualified_calls',
      provider_data: { channel: 'C0000000001' },
    });
    expect(await put(tracker.id, { project: 'OPS', issue_type: 'Task' })).toMatchObject({
      provider_data: { project: 'OPS', issue_type: 'Task' },
    });
    expect((await put(tracker.id, { issue_type: null })).provider_data).toEqual({ project: 'OPS', issue_type: null });
    expect((await put(chat.id, { channel: null })).provider_data).toEqual({ channel: null });
    expect((await put(chat.id, { unknown: 1 })).provider_data).toEqual({ channel: null });
    expect((await client.get('/integration/')).body).toMatchObject([
      { id: chat.id, action: 'qualified_calls', provider_data: { channel: null } },
      { id: tracker.id, provider_data: { project: 'OPS', issue_type: null } },
    ]);
  });

  test('may be changed at once without one change undoing the other', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'tracker');
    await Promise.all([
      client.put(`/integration/${id}`, { project: 'OPS' }),
      client.put(`/integration/${id}`, { issue_type: 'Bug' }),
      client.put(`/integration/${id}`, { action: 'qualified_calls' }),
    ]);
    expect((await client.get('/integration/')).body).toMatchObject([
      { action: 'qualified_calls', provider_data: { project: 'OPS', issue_type: 'Bug' } },
    ]);
  });

  test.each([
    ['chatapp', { project: 'OPS' }, 'project is for integrations of tracker'],
    ['tracker', { channel: 'C1' }, 'channel is for integrations of chatapp'],
    ['calendar', { selected_files: [{ sheet_url: 'x' }] }, 'selected_files is for integrations of sheet'],
    ['sheet', { action: 'qualified_calls' }, 'action is for integrations of chatapp, tracker, calendar'],
    ['books', { selected_files: [] }, 'this one is of books'],
  ] as const)('%s does not have %j, and says who does', async (provider, body, words) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, provider);
    expect(await client.put(`/integration/${id}`, body)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(words) } });
  });

  test.each([
    [{ action: 'some_calls' }, 'action'],
    [{ action: null }, 'action'],
    [{ channel: '' }, 'channel'],
    [{ channel: 7 }, 'channel'],
    [{ selected_files: 'x' }, 'selected_files'],
  ])('%j is 422 at the field', async (body, field) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'chatapp');
    const answer = await client.put(`/integration/${id}`, body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
  });

  test('of an unknown integration are 404, of one without a number 422', async () => {
    const { client } = await newOrganization();
    expect((await client.put('/integration/999999999', { action: 'all_calls' })).status).toBe(404);
    expect((await client.put('/integration/abc', { action: 'all_calls' })).status).toBe(422);
  });
});

describe('what can be picked', () => {
  test('are the channels of the workspace', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'chatapp');
    const { status, body } = await client.get('/integration/chatapp/channels');
    expect(status).toBe(200);
    expect(body.channels).toHaveLength(3);
    expect(body.channels[0]).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      is_private: false,
      is_member: expect.any(Boolean),
    });
  });

  test('are the projects of the site, and the issue types of one of them or of all', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'tracker');
    const projects = await client.get('/integration/tracker/projects');
    expect(projects.body.projects).toHaveLength(2);
    expect(projects.body.projects[0]).toEqual({ id: expect.any(String), key: expect.any(String), name: expect.any(String) });
    const { key } = projects.body.projects[0];
    const types = await client.get(`/integration/tracker/issue-types?project=${key}`);
    expect(types.body.issue_types).toHaveLength(3);
    expect(types.body.issue_types[0]).toEqual({ id: expect.any(String), name: expect.any(String), subtask: expect.any(Boolean) });
    const ofSite = await client.get('/integration/tracker/issue-types');
    expect(ofSite.body.issue_types).toEqual([...types.body.issue_types, { id: expect.any(String), name: 'Epic', subtask: false }]);
    await client.put(`/integration/${id}`, { project: key });
    expect((await client.get('/integration/tracker/issue-types')).body).toEqual(ofSite.body);
  });

  test('shows more once the grant covers more, by connecting again', async () => {
    const { client } = await newOrganization();
    const narrow = await connectIntegration(client, 'chatapp', { scopes: 'chat:write' });
    expect((await client.get('/integration/chatapp/channels')).status).toBe(403);
    await client.post(`/integration/${narrow.id}/disconnect`);
    const { body } = await startConnecting(client, 'chatapp');
    await decideConsent(body.redirect_url);
    await finalizeConnecting(client, body.request_id, 'chatapp');
    expect((await client.get('/integration/chatapp/channels')).status).toBe(200);
  });

  test('is asked again after a moment when the provider has one of weakness', async () => {
    const { client } = await newOrganization();
    await connectIntegration(client, 'chatapp');
    await planFault({ provider: 'slack', status: 503, body: {} });
    expect((await client.get('/integration/chatapp/channels')).status).toBe(200);
  });
});

describe('a call that is for data sources', () => {
  test.each(['chatapp', 'tracker', 'calendar'] as const)('is 400 on %s', async (provider) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, provider);
    const contact = await client.post('/contacts', { email: 'ada@example.com' });
    for (const answer of [
      await client.get(`/integration/${id}/field-mapping`),
      await client.put(`/integration/${id}/field-mapping`, { field_mapping: {} }),
      await client.post(`/integration/${id}/resync`),
      await client.post(`/integration/${id}/contacts/${contact.body.id}/push`),
      await client.get(`/integration/${id}/books/organizations`),
      await client.post(`/integration/${id}/books/organization`, { organization_id: '1' }),
      await client.get(`/integration/${id}/sheet/search`),
      await client.get(`/integration/${id}/sheet/headers?sheet_url=x`),
      await client.post(`/integration/${id}/sheet/select`, { sheet_url: 'x', contact_list_name: 'y', field_mapping: {} }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(`Integration ${id} is of ${provider}`) } });
  });

  test('of books is 400 on a sheet, and one of a sheet on books', async () => {
    const { client } = await newOrganization();
    const [books, sheet] = [await connectIntegration(client, 'books'), await connectIntegration(client, 'sheet')];
    expect((await client.get(`/integration/${sheet.id}/books/organizations`)).status).toBe(400);
    expect((await client.post(`/integration/${sheet.id}/books/organization`, { organization_id: '1' })).status).toBe(400);
    expect((await client.get(`/integration/${books.id}/sheet/search`)).status).toBe(400);
    expect((await client.get(`/integration/${books.id}/sheet/headers?sheet_url=x`)).status).toBe(400);
    expect((await client.post(`/integration/${books.id}/sheet/select`, { sheet_url: 'x', contact_list_name: 'y' })).status).toBe(400);
  });
});
