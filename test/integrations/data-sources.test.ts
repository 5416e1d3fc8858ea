import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { changeAtGoogle, connectIntegration, setAccountStatus, leadsUrl, messyUrl } from '../support/integrations.ts';
import { newOrganization, type Client } from '../support/organization.ts';

const headersOf = (client: Client, id: number, sheetUrl: string, more = '') =>
  client.get(`/integration/${id}/sheet/headers?sheet_url=${encodeURIComponent(sheetUrl)}${more}`);
const syncsOf = async (integrationId: number) =>
  (await env.DB.prepare('SELECT * FROM integration_sync WHERE integration_id = ?').bind(integrationId).all<any>()).results;
const rowOf = (id: number) => env.DB.prepare('SELECT * FROM integration WHERE id = ?').bind(id).first<any>();

describe('books', () => {
  test('are read from the organization that is selected, which names the account', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'books');
    const { body } = await client.get(`/integration/${id}/books/organizations`);
    expect(body.organizations).toEqual([
      { organization_id: '10234695', name: 'Acme', is_default: true },
      { organization_id: '10234696', name: 'Acme Labs', is_default: false },
    ]);
    const selected = await client.post(`/integration/${id}/books/organization`, { organization_id: 10_234_696 });
    expect(selected).toMatchObject({
      status: 200,
      body: { id, account_label: 'Acme Labs', provider_data: { organization_id: '10234696', organization_name: 'Acme Labs' } },
    });
    expect((await client.get('/integration/books/status')).body.account_label).toBe('Acme Labs');
  });

  test.each([{}, { organization_id: '' }, { organization_id: 1.5 }, { organization_id: null }])(
    '%j is no organization: 422',
    async (body) => {
      const { client } = await newOrganization();
      const { id } = await connectIntegration(client, 'books');
      const answer = await client.post(`/integration/${id}/books/organization`, body);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'organization_id'] }] } });
    },
  );

  test('are synced as soon as an organization and something to read are chosen, and not before', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'books');
    const phone = { external_field: 'phone', direction: 'inbound' };
    const early = await client.post(`/integration/${id}/resync`);
    expect(early).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/no books organization is selected.*books\/organization/) },
    });
    await client.post(`/integration/${id}/books/organization`, { organization_id: '10234696' });
    const unmapped = await client.post(`/integration/${id}/resync`);
    expect(unmapped).toMatchObject({ status: 409, body: { detail: expect.stringContaining('no inbound') } });
    await client.put(`/integration/${id}/field-mapping`, { field_mapping: { phone: { ...phone, direction: 'outbound' } } });
    expect((await client.post(`/integration/${id}/resync`)).status).toBe(409);
    expect([await syncsOf(id), (await rowOf(id)).next_sync_at]).toEqual([[], null]);
    await client.put(`/integration/${id}/field-mapping`, { field_mapping: { phone } });
    expect(await syncsOf(id)).toHaveLength(1);
    expect((await rowOf(id)).next_sync_at).not.toBeNull();
    const resync = await client.post(`/integration/${id}/resync`);
    expect(resync).toMatchObject({ status: 200, body: { status: 'started', sync_id: expect.any(Number) } });
    await client.put(`/integration/${id}/field-mapping`, { field_mapping: {} });
    expect((await rowOf(id)).next_sync_at).toBeNull();
  });
});

describe('books whose grant has ended', () => {
  test('can be mapped, keep the reason, and are due once they are connected again', async () => {
    const { client } = await newOrganization();
    const before = await connectIntegration(client, 'books');
    await client.post(`/integration/${before.id}/books/organization`, { organization_id: '10234696' });
    await setAccountStatus(before.integration_id, 'REVOKED');
    expect((await client.get(`/integration/${before.id}/books/organizations`)).status).toBe(404);
    const field_mapping = { phone: { external_field: 'phone', direction: 'inbound' } };
    expect((await client.put(`/integration/${before.id}/field-mapping`, { field_mapping })).status).toBe(200);
    expect(await syncsOf(before.id)).toEqual([]);
    expect((await client.post(`/integration/${before.id}/resync`)).body.detail).toBe('not_connected');
    expect((await client.get('/integration/')).body).toMatchObject([{ is_active: false, last_error: expect.any(String) }]);
    await connectIntegration(client, 'books');
    const row = await rowOf(before.id);
    expect([row.is_active, row.next_sync_at]).toEqual([1, expect.any(Number)]);
    expect((await client.post(`/integration/${before.id}/resync`)).status).toBe(200);
  });
});

describe('a field mapping', () => {
  test('of books is replaced as a whole, and shown with what can be mapped', async () => {
    const { client } = await newOrganization();
    await client.post('/contacts', { email: 'ada@example.com', custom_fields: { tier: 'gold' } });
    const { id } = await connectIntegration(client, 'books');
    const path = `/integration/${id}/field-mapping`;
    expect((await client.get(path)).body.field_mapping).toEqual({});
    const mapping = {
      phone: { external_field: 'mobile', direction: 'bidirectional' },
      'custom_fields.tier': { external_field: 'cf_tier', direction: 'outbound' },
    };
    const saved = await client.put(path, { field_mapping: mapping });
    expect(saved).toMatchObject({ status: 200, body: { field_mapping: mapping } });
    expect(saved.body.contact_fields).toEqual(expect.arrayContaining(['phone', 'external_id', 'tags', 'custom_fields.tier']));
    expect(saved.body.external_fields).toEqual(expect.arrayContaining(['contact_name', 'company_name', 'mobile', 'cf_tier']));
    expect((await client.get(path)).body).toEqual(saved.body);
    await client.put(path, { field_mapping: { phone: mapping.phone } });
    expect((await client.get(path)).body.field_mapping).toEqual({ phone: mapping.phone });
  });

  test('that is wrong is 400, names the entry and leaves the one that is there', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'books');
    const path = `/integration/${id}/field-mapping`;
    const good = { phone: { external_field: 'phone', direction: 'inbound' } };
    await client.put(path, { field_mapping: good });
    for (const [field_mapping, words] of [
      [{ ...good, fone: good.phone }, '"fone"'],
      [{ phone: { external_field: 'telephone', direction: 'inbound' } }, '"telephone"'],
      [{ phone: { external_field: 'phone', direction: 'sideways' } }, '"sideways"'],
      [{ phone: 'phone' }, 'phone must be an object'],
    ] as const)
      expect(await client.put(path, { field_mapping })).toMatchObject({ status: 400, body: { detail: expect.stringContaining(words) } });
    for (const body of [
      {},
      { field_mapping: null },
      { field_mapping: [] },
      { field_mapping: 'phone' },
      { field_mapping: 5 },
      { field_mapping: true },
    ])
      expect(await client.put(path, body)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('must be an object') } });
    expect((await client.get(path)).body.field_mapping).toEqual(good);
  });

  test('of a sheet names columns that the sheet has, once one is selected', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const path = `/integration/${id}/field-mapping`;
    const mapping = { phone: 'Mobile No.', first_name: 'Full Name' };
    expect((await client.get(path)).body).toMatchObject({ field_mapping: {}, external_fields: [] });
    expect(await client.put(path, { field_mapping: mapping })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('sheet/select') },
    });
    await client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'Leads' });
    expect(await client.put(path, { field_mapping: mapping })).toMatchObject({
      status: 200,
      body: { field_mapping: mapping, external_fields: ['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'] },
    });
    expect(await client.put(path, { field_mapping: { phone: 'Phone' } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('"Phone"') },
    });
    expect((await client.get(path)).body.field_mapping).toEqual(mapping);
  });
});

describe('a sheet', () => {
  test('is found by a part of its name, the last changed first', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const all = await client.get(`/integration/${id}/sheet/search?query=`);
    expect(all.body).toEqual({
      files: [
        { id: 'simulated-leads', name: 'Leads', url: expect.stringContaining('simulated-leads'), modified_at: '2026-11-02T09:00:00.000Z' },
        { id: 'simulated-messy', name: 'Messy', url: expect.stringContaining('simulated-messy'), modified_at: '2026-11-01T09:00:00.000Z' },
      ],
      next_page_token: null,
    });
    expect((await client.get(`/integration/${id}/sheet/search?query=ess`)).body.files).toHaveLength(1);
    expect((await client.get(`/integration/${id}/sheet/search`)).body).toEqual(all.body);
  });

  test('is previewed with its headers, first rows and a guessed mapping', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    expect((await headersOf(client, id, leadsUrl)).body).toEqual({
      sheet_name: 'Leads',
      sheets: ['Leads', "Last year's"],
      header_row: 1,
      phone_columns: ['Mobile No.'],
      headers: ['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City'],
      sample_rows: Array.from({ length: 5 }, () => Array.from({ length: 5 }, () => expect.any(String))),
      suggested_mapping: {
        first_name: 'Full Name',
        last_name: 'Full Name',
        phone: 'Mobile No.',
        email: 'E-mail',
        company: 'Company',
        'custom_fields.city': 'City',
      },
    });
  });

  test('with repeated and blank headers, ragged rows and stray cells has a name and a cell for each column', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const { body } = await headersOf(client, id, messyUrl);
    expect(body.headers).toEqual(['Name', 'Phone', 'Name_2', 'column_4', 'Notes']);
    expect(body.sample_rows).toEqual([
      ['Ada', '919876543210', 'Lovelace', 'x', 'calls back'],
      ['Grace', '+19172005001', 'Hopper', '', ''],
      ['Edsger', '', '', '', ''],
      ['', '', '', '', ''],
      ['', '19172005002', '', '', ''],
    ]);
    expect(body.suggested_mapping).toMatchObject({
      phone: 'Phone',
      first_name: 'Name',
      last_name: 'Name',
      'custom_fields.column_4': 'column_4',
      'custom_fields.column_6': 'column_6',
    });
  });

  test('with a title above its headers shows what is below, and which phones come first', async () => {
    const { id: organizationId, client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const range = 'Leads!A1:Z1000';
    await changeAtGoogle(organizationId, 'PUT', `/v4/spreadsheets/simulated-leads/values/${range}?valueInputOption=RAW`, {
      range,
      majorDimension: 'ROWS',
      values: [
        ['Our leads of autumn', '', '', '', ''],
        ['', '', '', '', ''],
        ['Name', 'Company phone', 'Home phone', 'Mobile', ''],
        ['Ada', '+12125550001', '+12125550002', '', 'vip'],
      ],
    });
    expect((await headersOf(client, id, leadsUrl)).body).toMatchObject({
      header_row: 3,
      headers: ['Name', 'Company phone', 'Home phone', 'Mobile'],
      sample_rows: expect.arrayContaining([['Ada', '+12125550001', '+12125550002', '']]),
      phone_columns: ['Mobile', 'Home phone', 'Company phone'],
      suggested_mapping: {
        phone: 'Mobile',
        first_name: 'Name',
        'custom_fields.company_phone': 'Company phone',
        'custom_fields.column_5': 'column_5',
      },
    });
    const chosen = await client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'L' });
    expect(chosen.status).toBe(200);
    const mapping = (await client.get(`/integration/${id}/field-mapping`)).body;
    expect(mapping.external_fields).toEqual(['Name', 'Company phone', 'Home phone', 'Mobile']);
    const narrower = { phone: 'Home phone', 'custom_fields.rank': 'column_5' };
    expect((await client.put(`/integration/${id}/field-mapping`, { field_mapping: narrower })).body.field_mapping).toEqual(narrower);
  });

  test('that is empty has no columns, and cannot be selected', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const empty = await headersOf(client, id, leadsUrl, `&sheet_name=${encodeURIComponent("Last year's")}`);
    expect(empty.body).toMatchObject({ sheet_name: "Last year's", headers: [], sample_rows: [], suggested_mapping: {} });
    const choice = { sheet_url: leadsUrl, sheet_name: "Last year's", contact_list_name: 'Leads' };
    expect(await client.post(`/integration/${id}/sheet/select`, choice)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('phone or external_id') },
    });
  });

  test('is the tab that the address shows, unless one is named', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    expect((await headersOf(client, id, `${leadsUrl}#gid=7`)).body.sheet_name).toBe("Last year's");
    expect((await headersOf(client, id, `${leadsUrl}#gid=7`, '&sheet_name=Leads')).body.sheet_name).toBe('Leads');
    expect((await headersOf(client, id, `${leadsUrl}#gid=999`)).body.sheet_name).toBe('Leads');
    expect(await headersOf(client, id, leadsUrl, '&sheet_name=Nope')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'sheet_name'], msg: `"Leads" has no sheet "Nope"; its sheets are "Leads", "Last year's"` }] },
    });
  });

  test.each([
    'leads',
    'https://example.com/spreadsheets/d/simulated-leads/edit',
    'https://docs.google.com/document/d/simulated-leads/edit',
    '',
  ])('at the address "%s" is 422', async (sheetUrl) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const wrong = { status: 422, body: { detail: [{ loc: ['query', 'sheet_url'], msg: expect.stringContaining('docs.google.com') }] } };
    expect(await headersOf(client, id, sheetUrl)).toMatchObject(wrong);
    const selected = await client.post(`/integration/${id}/sheet/select`, { sheet_url: sheetUrl, contact_list_name: 'L' });
    expect(selected.body.detail).toMatchObject([{ loc: ['body', 'sheet_url'] }]);
    const legacy = await client.put(`/integration/${id}`, { selected_files: [{ sheet_url: sheetUrl }] });
    expect(legacy.body.detail).toMatchObject([{ loc: ['body', 'selected_files', '0', 'sheet_url'] }]);
  });

  test('is selected with a list and a mapping, and its first sync begins', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const field_mapping = { phone: 'Mobile No.', email: 'E-mail' };
    const chosen = await client.post(`/integration/${id}/sheet/select`, {
      sheet_url: ` ${leadsUrl} `,
      contact_list_name: ' From  sheet ',
      field_mapping,
    });
    expect(chosen).toMatchObject({
      status: 200,
      body: { id, provider_data: { sheet_url: leadsUrl, sheet_name: 'Leads', contact_list_name: 'From sheet' } },
    });
    const [sync] = await syncsOf(id);
    expect(chosen.body.provider_data.last_sync).toMatchObject({
      sync_id: sync.id,
      started_at: expect.any(String),
      rows_seen: expect.any(Number),
    });
    expect((await client.get(`/integration/${id}/field-mapping`)).body.field_mapping).toEqual(field_mapping);
    expect((await client.get('/integration/')).body[0].provider_data.last_sync.sync_id).toBeGreaterThanOrEqual(sync.id);
  });

  test.each([
    [{ contact_list_name: 'L', field_mapping: { phone: 'Mobile No.' } }, ['sheet_url']],
    [{ sheet_url: leadsUrl, field_mapping: { phone: 'Mobile No.' } }, ['contact_list_name']],
    [{ sheet_url: leadsUrl, contact_list_name: ' ', field_mapping: { phone: 'Mobile No.' } }, ['contact_list_name']],
    [{ sheet_url: leadsUrl, contact_list_name: 'L', sheet_name: 'Nope' }, ['sheet_name']],
  ])('selected by %j is 422', async (body, place) => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const answer = await client.post(`/integration/${id}/sheet/select`, body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', ...place] }] } });
    expect(await syncsOf(id)).toEqual([]);
  });

  test('is not selected with a mapping that is no object: 400', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    for (const field_mapping of [['phone'], null, 'phone', 5]) {
      const answer = await client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'L', field_mapping });
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('must be an object') } });
    }
    expect(await syncsOf(id)).toEqual([]);
  });

  test('is selected by the legacy PUT with a guessed mapping, into a list of its name or the one that it has', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const file = { sheet_url: leadsUrl };
    const first = await client.put(`/integration/${id}`, { selected_files: [file] });
    expect(first).toMatchObject({ status: 200, body: { provider_data: { ...file, sheet_name: 'Leads', contact_list_name: 'Leads' } } });
    expect((await client.get(`/integration/${id}/field-mapping`)).body.field_mapping).toMatchObject({ phone: 'Mobile No.' });
    await client.post(`/integration/${id}/sheet/select`, { ...file, contact_list_name: 'My list' });
    const second = await client.put(`/integration/${id}`, { selected_files: [{ sheet_url: messyUrl }] });
    expect(second.body.provider_data).toMatchObject({ sheet_url: messyUrl, sheet_name: 'Sheet 1', contact_list_name: 'My list' });
    for (const selected_files of [[], [file, file]])
      expect(await client.put(`/integration/${id}`, { selected_files })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'selected_files'] }] },
      });
  });

  test('that is not selected cannot be synced, and one whose tab was renamed says so', async () => {
    const { client, id: organizationId } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    expect(await client.post(`/integration/${id}/resync`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('sheet/select') },
    });
    await client.post(`/integration/${id}/sheet/select`, { sheet_url: leadsUrl, contact_list_name: 'Leads' });
    expect((await client.post(`/integration/${id}/resync`)).body).toMatchObject({ status: 'started' });
    const renamed = { updateSheetProperties: { properties: { sheetId: 0, title: 'New leads' }, fields: 'title' } };
    await changeAtGoogle(organizationId, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', { requests: [renamed] });
    expect(await client.get(`/integration/${id}/field-mapping`)).toMatchObject({
      status: 502,
      body: { detail: expect.stringMatching(/no sheet "Leads"; its sheets are "New leads", .*select one again/) },
    });
  });
});
