import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import {
  changeAtGoogle,
  connectIntegration,
  deletedUrl,
  setAccountStatus,
  leadsUrl,
  messyUrl,
  planFault,
} from '../support/integrations.ts';
import { organizationWithAgent } from '../support/journey-calls.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { farWindow, newAgent, rowsRead, stateOf } from './campaign-service.ts';
import { allRows, draftCampaign, goTo, inside, inState, monday, newActionId, settle, standAt } from './live-campaigns.ts';

const leads = { sheet_url: leadsUrl, sheet_name: 'Leads' };
const messy = { sheet_url: messyUrl, sheet_name: 'Sheet 1' };

/** Selects a sheet, without the sync that follows a selection. */
async function select(integrationId: number, providerData: object, fieldMapping: object = {}): Promise<void> {
  await env.DB.prepare('UPDATE integration SET provider_data = ?, field_mapping = ? WHERE id = ?')
    .bind(JSON.stringify(providerData), JSON.stringify(fieldMapping), integrationId)
    .run();
}

async function sheetOf(client: Client, providerData: object = leads, fieldMapping: object = {}): Promise<{ id: number; account: string }> {
  const { id, integration_id } = await connectIntegration(client, 'sheet');
  await select(id, providerData, fieldMapping);
  return { id, account: integration_id };
}

async function sheetOrganization(providerData: object = leads, fieldMapping: object = {}) {
  const organization = await organizationWithAgent();
  const { id: integration, account } = await sheetOf(organization.client, providerData, fieldMapping);
  const create = (more: object = {}) =>
    organization.client.post('/campaign/create', {
      name: 'Sheet',
      workflow_id: organization.agentId,
      source_type: 'sheet',
      source_id: String(integration),
      schedule_config: farWindow(),
      ...more,
    });
  const open = async (source_options = {}) => {
    const context = (await backgroundContext(env, organization.id, () => undefined))!;
    return openCampaignSource(context, { source_type: 'sheet', source_id: String(integration), source_options });
  };
  /** All rows after a row, in the pages in which they were read. */
  const pages = async (source_options = {}, after: CampaignSourceRow | null = null, betweenPages = async () => {}) => {
    const read: CampaignSourceRow[][] = [];
    for await (const batch of (await open(source_options)).batches(new CompactSeenPhones(), after)) {
      read.push(batch);
      await betweenPages();
    }
    return read;
  };
  const putCells = (cell: string, values: unknown[][]) => put(organization.id, cell, values);
  return { ...organization, integration, account, create, pages, putCells };
}

function put(organizationId: number, cell: string, values: unknown[][]): Promise<void> {
  const range = `Leads!${cell}:Z1000`;
  const path = `/v4/spreadsheets/simulated-leads/values/${range}?valueInputOption=RAW`;
  return changeAtGoogle(organizationId, 'PUT', path, { range, majorDimension: 'ROWS', values });
}

const person = (index: number) => [`Person ${index}`, `+1212555${String(1000 + index)}`];
const people = (count: number) => Array.from({ length: count }, (_, index) => person(index));

const rename = (organizationId: number, title: string) =>
  changeAtGoogle(organizationId, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', {
    requests: [{ updateSheetProperties: { properties: { sheetId: 0, title }, fields: 'title' } }],
  });

const shortOf = (rows: CampaignSourceRow[]) => rows.map(({ row_number, phone, state }) => [row_number, phone, state]);

describe('the rows of a sheet', () => {
  test('are those that stand in it: numbers as text, none dropped but empty ones, every other column a variable', async () => {
    const { pages } = await sheetOrganization(messy);
    const [rows] = await pages();
    expect(rows!.map(({ row_number, phone, state, reason, variables }) => [row_number, phone, state, reason, variables])).toEqual([
      [
        1,
        '919876543210',
        'failed',
        expect.stringContaining('919876543210'),
        { name: 'Ada', name_2: 'Lovelace', column_4: 'x', notes: 'calls back' },
      ],
      [2, '+19172005001', 'pending', null, { name: 'Grace', name_2: 'Hopper', notes: '' }],
      [3, '', 'failed', 'empty: the row has no phone number', { name: 'Edsger', name_2: '', notes: '' }],
      [5, '+19172005002', 'pending', null, { name: '', name_2: '', notes: '', column_6: 'stray' }],
      [6, '+19172005003', 'pending', null, { name: 'Alan', name_2: 'Turing', notes: '=1+1' }],
      [7, 'n/a', 'failed', expect.stringContaining('n/a'), { name: 'Barbara', name_2: 'Liskov', column_4: 'TRUE', notes: '' }],
    ]);
  });

  test('are read with the country of the campaign, and with the column that it names', async () => {
    const { pages } = await sheetOrganization(messy);
    expect(shortOf((await pages({ default_country: 'IN' }))[0]!)[0]).toEqual([1, '+919876543210', 'pending']);
    expect((await pages({ phone_column: 'name' }))[0]![1]).toMatchObject({
      phone: 'Grace',
      state: 'failed',
      variables: { phone: '+19172005001' },
    });
  });

  test('have the phone of the mapped column, unless the campaign names another or it has gone', async () => {
    const { pages, putCells, integration } = await sheetOrganization(leads, { phone: 'Desk' });
    await putCells('A1', [
      ['Full Name', 'Mobile No.', 'Desk'],
      ['Ada', '+12125550001', '+12125550002'],
    ]);
    const first = async (options = {}) => (await pages(options))[0]![0]!.phone;
    expect(await first()).toBe('+12125550002');
    expect(await first({ phone_column: 'Mobile No.' })).toBe('+12125550001');
    await select(integration, leads, { phone: 'Office' });
    expect(await first()).toBe('+12125550001');
  });

  test('have the phone of another column where the mapped one has none, if that is called a phone', async () => {
    const { pages, putCells, integration } = await sheetOrganization(leads, { phone: 'Home phone' });
    await putCells('A1', [
      ['Full Name', 'Work phone', 'Home phone', 'Mobile', 'Desk'],
      ['Ada', '+12125550001', '+12125550002', '+12125550003', '+12125550007'],
      ['Grace', '+12125550004', 'n/a', '+12125550005', ''],
      ['Edsger', '+12125550006', '', '', 'n/a'],
    ]);
    const phones = async (options = {}) =>
      (await pages(options))[0]!.slice(0, 3).map(({ phone, state }) => (state === 'pending' ? phone : state));
    expect(await phones()).toEqual(['+12125550002', '+12125550005', '+12125550006']);
    expect(await phones({ phone_column: 'Home phone' })).toEqual(['+12125550002', 'failed', 'failed']);
    await select(integration, leads, { phone: 'Desk' });
    expect(await phones()).toEqual(['+12125550007', 'failed', 'failed']);
  });

  test('keep their cells right of the headers, named by their place, on every page', async () => {
    const { pages, putCells } = await sheetOrganization();
    await putCells('A2', people(800));
    await putCells('H3', [['near', '', 'far']]);
    await putCells('Z700', [['last']]);
    const rows = (await pages()).flat();
    expect(rows[1]!.variables).toMatchObject({ column_8: 'near', column_10: 'far' });
    expect(rows[1]!.variables).not.toHaveProperty('column_9');
    expect(rows[698]!.variables).toMatchObject({ column_26: 'last' });
    expect(rows[0]!.variables).not.toHaveProperty('column_8');
  });

  test('stand below their headers, which may be below titles; row 1 is the row below the headers', async () => {
    const { pages, putCells, create, client } = await sheetOrganization();
    await putCells('A1', [
      ['Our leads', '', '', '', ''],
      ['', '', '', '', ''],
      ['Name', 'Phone', '', '', ''],
      ['Ada', '+12125550001', '', '', ''],
      ['', '', '', '', ''],
      ['Grace', '+12125550002', '', '', 'x'],
    ]);
    const rows = (await pages()).flat();
    expect(rows.slice(0, 2).map(({ row_number, phone, variables }) => [row_number, phone, variables])).toEqual([
      [1, '+12125550001', { name: 'Ada' }],
      [3, '+12125550002', { name: 'Grace', column_5: 'x' }],
    ]);
    for (const [index, row] of rows.slice(0, 4).entries()) expect((await pages({}, row)).flat()).toEqual(rows.slice(index + 1));
    const { body } = await create();
    expect(body.total_rows).toBe(rows.length);
    await client.post(`/campaign/${body.id}/start`);
    expect(await rowsRead(client, body.id)).toMatchObject({ total_rows: rows.length });
  });

  test('carry the contact that has their number, and whoever was there before is skipped', async () => {
    const { client, pages, putCells } = await sheetOrganization();
    const contact = (await client.post('/contacts', { phone: '+1 917 200 0101', custom_fields: { timezone: 'Asia/Tokyo' } })).body;
    await putCells('A700', [['Again', '(917) 200-0101']]);
    const rows = (await pages()).flat();
    expect(rows).toHaveLength(121);
    expect(rows[1]).toMatchObject({ row_number: 2, state: 'pending', contact_id: contact.id, variables: { timezone: 'Asia/Tokyo' } });
    expect(rows[120]).toMatchObject({
      row_number: 699,
      state: 'skipped',
      reason: 'duplicate: row 2 has the same number',
      contact_id: contact.id,
    });
  });

  test('are read from behind any row on as they were before', async () => {
    const { pages } = await sheetOrganization(messy);
    const all = (await pages()).flat();
    for (const [index, row] of all.entries()) expect((await pages({}, row)).flat()).toEqual(all.slice(index + 1));
  });

  test('keep their phones where columns are moved or added between two pages', async () => {
    const { pages, putCells } = await sheetOrganization();
    await putCells('A2', people(800));
    let reads = 0;
    const read = await pages({}, null, async () => {
      if (reads++ === 0)
        await putCells('A1', [
          ['New', 'Full Name', 'E-mail', 'Company', 'City', 'Mobile No.'],
          ...people(800).map(([name, phone]) => ['x', name, '', '', '', phone]),
        ]);
    });
    expect(read.map((page) => page.length)).toEqual([500, 300]);
    expect(read.flat().map(({ phone, state }) => [phone, state])).toEqual(people(800).map(([, phone]) => [phone, 'pending']));
    expect(read[1]![0]!.variables).toMatchObject({ new: 'x', full_name: 'Person 500' });
  });

  test('end with a sentence where the column of the phones goes away between two pages', async () => {
    const { pages, putCells } = await sheetOrganization();
    await putCells('A2', people(800));
    const reading = pages({}, null, () => putCells('A1', [['Full Name', 'Contact']]));
    await expect(reading).rejects.toMatchObject({ name: 'UnreadableFile', message: expect.stringMatching(/"Mobile No\.".*"Contact"/) });
  });
});

describe('a campaign over a sheet', () => {
  test('calls the numbers of the sheet', async () => {
    const { client, create } = await sheetOrganization(messy);
    const created = await create({ source_options: { default_country: 'in' } });
    expect([created.status, created.body]).toMatchObject([
      200,
      { state: 'draft', source_type: 'sheet', source_options: { default_country: 'IN' } },
    ]);
    const { id } = created.body;
    await client.post(`/campaign/${id}/start`);
    expect(await rowsRead(client, id)).toMatchObject({ total_rows: 6, failed_rows: 3 });
    const { runs } = (await client.get(`/campaign/${id}/runs`)).body;
    expect(runs.map((row: any) => [row.row_number, row.phone])).toContainEqual([1, '+919876543210']);
  });

  test.each([
    ['nothing selected', {}, {}, 'source_id', 'no_sheet'],
    ['a deleted sheet', { ...leads, sheet_url: deletedUrl }, {}, 'source_id', 'not found'],
    [
      'a tab that has gone',
      { ...leads, sheet_name: 'Old' },
      {},
      'source_id',
      `"Leads" has no sheet "Old" any more; its sheets are: "Leads", "Last year's"`,
    ],
    ['an empty tab', { ...leads, sheet_name: "Last year's" }, {}, 'source_id', 'it has no header row'],
    [
      'a column that it does not have',
      leads,
      { source_options: { phone_column: 'Fax' } },
      'source_options',
      '"Fax" was found. The headers are: "Full Name", "Mobile No."',
    ],
  ])('is refused for %s', async (_, selection, more, field, said) => {
    const { create } = await sheetOrganization(selection);
    const { status, body } = await create(more);
    expect([status, body.detail[0].loc[1]]).toEqual([422, field]);
    expect(body.detail[0].msg.toLowerCase()).toContain(said.toLowerCase());
  });

  test('is refused for a sheet without a phone column, and for one without rows, naming what was found', async () => {
    const { id, create, putCells } = await sheetOrganization();
    await putCells('A1', [['Full Name', 'Contact']]);
    expect((await create()).body.detail[0].msg).toContain('No column for phone numbers was found. The headers are: "Full Name", "Contact"');
    await changeAtGoogle(id, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', {
      requests: [{ deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 1, endIndex: 1000 } } }],
    });
    await putCells('A1', [['Phone']]);
    expect((await create()).body.detail[0].msg).toContain('no rows below it');
  });

  test('is refused for a grant that does not cover reading', async () => {
    const { client, id } = await newOrganization();
    const integration = await connectIntegration(client, 'sheet', { scopes: 'https://www.googleapis.com/auth/drive.metadata.readonly' });
    await select(integration.id, leads);
    const body = { name: 'Sheet', workflow_id: await newAgent(id), source_type: 'sheet', source_id: String(integration.id) };
    const refused = await client.post('/campaign/create', body);
    expect([refused.status, refused.body.detail[0].msg]).toEqual([422, expect.stringContaining('insufficient_permissions: ')]);
  });

  test('is refused for an integration that is disconnected or whose grant has died, and says how to connect', async () => {
    const { client, create, integration, account } = await sheetOrganization();
    await setAccountStatus(account, 'REVOKED');
    const dead = await create();
    expect([dead.status, dead.body.detail[0].msg]).toEqual([422, expect.stringMatching(/^not_connected: .*POST \/integration\/connect/)]);
    expect((await client.get('/integration/')).body[0]).toMatchObject({ id: integration, is_active: false });
    expect((await create()).status).toBe(422);
    expect((await client.post(`/integration/${integration}/disconnect`)).status).toBe(200);
    const gone = await create();
    expect([gone.status, gone.body.detail[0].msg]).toEqual([422, expect.stringContaining(`integration ${integration} was disconnected`)]);
  });

  test('accepts no integration of another organization or provider, and no unknown one', async () => {
    const { client, create } = await sheetOrganization();
    const other = await sheetOrganization();
    for (const source_id of [String(other.integration), '999999999', '0', '-1', 'x', ''])
      expect([source_id, (await create({ source_id })).status]).toEqual([source_id, 404]);
    const books = await connectIntegration(client, 'books');
    const refused = await create({ source_id: String(books.id) });
    expect([refused.status, refused.body.detail[0]]).toEqual([
      422,
      expect.objectContaining({ msg: expect.stringContaining('is of books, not of sheet') }),
    ]);
  });

  test('is not made while Google is away, and can be made afterwards', async () => {
    const { id, integration, create } = await sheetOrganization();
    const tab = `Tab-${crypto.randomUUID()}`;
    await rename(id, tab);
    await select(integration, { ...leads, sheet_name: tab });
    await planFault({ provider: 'googlesheets', match: { path: `*${tab}*` }, status: 503, times: 3, body: {} });
    expect((await create()).status).toBe(502);
    expect((await create()).status).toBe(200);
  });

  test('fails with the reason if its sheet is gone when it starts', async () => {
    const { client, create, integration } = await sheetOrganization();
    const { id } = (await create()).body;
    await select(integration, { ...leads, sheet_url: deletedUrl });
    await client.post(`/campaign/${id}/start`);
    expect((await stateOf(client, id, 'failed')).state_reason).toMatch(/^source_unreadable: .*not found/i);
    expect((await client.get('/integration/')).body[0]).toMatchObject({ id: integration, is_active: true });
  });

  test('reads every row once with any interruptions, and does not start over', async () => {
    const campaign = await draftCampaign();
    const { id: integration } = await sheetOf(campaign.client);
    await put(campaign.organizationId, 'A2', people(800));
    await env.DB.prepare("UPDATE campaign SET source_type = 'sheet', source_id = ? WHERE id = ?")
      .bind(String(integration), campaign.id)
      .run();
    await standAt(campaign, monday);
    let lookups = 0;
    await inside(campaign.stub(), (object) => {
      const real = object.env;
      const prepare = (sql: string) => {
        // Each page looks up the contacts of its numbers.
        if (/FROM .*contact\b/s.test(sql) && /phone/.test(sql) && ++lookups === 2) throw new Error('the isolate is gone');
        return real.DB.prepare(sql);
      };
      const database = { prepare, batch: (statements: D1PreparedStatement[]) => real.DB.batch(statements) };
      object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? database : Reflect.get(target, name)) });
    });
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    await settle(campaign);
    expect(await inState(campaign, 'syncing')).toMatchObject({ total_rows: 500 });
    await goTo(campaign, monday + 60_000);
    expect(await inState(campaign, 'running')).toMatchObject({ total_rows: 800, skipped_rows: 0 });
    expect((await allRows(campaign)).map(({ row_number, phone }) => [row_number, phone])).toEqual(
      people(800).map(([, phone], index) => [index + 1, phone]),
    );
    expect(lookups).toBe(3);
  });
});
