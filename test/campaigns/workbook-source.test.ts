import { env } from 'cloudflare:workers';
import JSZip from 'jszip';
import { describe, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newOrganization } from '../support/organization.ts';
import { workbookOf, type CellSheet } from '../support/people-workbook.ts';
import { allRows, draftCampaign, goTo, inside, inState, monday, newActionId, settle, standAt } from './live-campaigns.ts';
import { farWindow, put, rowsRead, uploaded } from './campaign-service.ts';

const cover: CellSheet = { name: 'Cover', rows: [['Customers of 2026'], ['Do not print']] };
const leads: CellSheet = {
  name: 'Leads',
  rows: [
    ['Mobile', 'First name', 'Home phone'],
    [12123456001, 'Ann'],
    [null, 'Bob', '212 345 6002'],
    ['+1 (212) 345-6001', 'Ann again', null, null, 'calls back'],
    ['n/a', 'Cy'],
  ],
};
const old: CellSheet = { name: 'Old ones', rows: [['Phone'], ['+12123456009']] };

async function workbookOrganization(sheets: CellSheet[] = [cover, leads, old], file?: Uint8Array) {
  const { client, id, agentId: workflow_id } = await callingOrganization();
  const source_id = await uploaded(client, file ?? (await workbookOf(sheets)), 'people.xlsx');
  const create = async (source_options: object = {}) =>
    client.post('/campaign/create', {
      name: 'Spring',
      workflow_id,
      source_type: 'csv',
      source_id,
      source_options,
      schedule_config: farWindow(),
    });
  const preview = (source_options: object = {}) => client.post('/campaign/preview', { source_type: 'csv', source_id, source_options });
  const rows = async (source_options: object = {}, after: CampaignSourceRow | null = null) => {
    const context = (await backgroundContext(env, id, () => undefined))!;
    const source = await openCampaignSource(context, { source_type: 'csv', source_id, source_options });
    const read: CampaignSourceRow[] = [];
    for await (const batch of source.batches(new CompactSeenPhones(), after)) read.push(...batch);
    return read;
  };
  const folder = `campaign_sources/${id}/${source_id}/`;
  const storedFiles = async () => (await env.FILES.list({ prefix: folder })).objects.map(({ key }) => key.slice(folder.length));
  return { client, id, source_id, create, preview, rows, folder, storedFiles };
}

describe('a campaign over a workbook', () => {
  test('calls the people of its first sheet with a table, row by row', async () => {
    const { client, create } = await workbookOrganization();
    const created = await create();
    expect([created.status, created.body]).toMatchObject([200, { state: 'draft', total_rows: 4 }]);
    await client.post(`/campaign/${created.body.id}/start`);
    expect(await rowsRead(client, created.body.id)).toMatchObject({ total_rows: 4, failed_rows: 1, skipped_rows: 1 });
    const { runs } = (await client.get(`/campaign/${created.body.id}/runs`)).body;
    expect(runs.map((row: any) => [row.row_number, row.phone, row.reason?.split(':')[0], row.variables])).toEqual([
      [1, '+12123456001', 'window_closed', { first_name: 'Ann', home_phone: '' }],
      [2, '+12123456002', 'window_closed', { first_name: 'Bob', home_phone: '212 345 6002' }],
      [3, '+12123456001', 'duplicate', { first_name: 'Ann again', home_phone: '', column_5: 'calls back' }],
      [4, 'n/a', 'not_a_number', { first_name: 'Cy', home_phone: '' }],
    ]);
  });

  test('calls nobody by a row whose formula has no result, and names the formula', async () => {
    const formula = { formula: 'CONCATENATE("+1","2123456002")', value: '<v></v>' };
    const sheet = {
      name: 'A',
      rows: [
        ['Phone', 'Balance'],
        [12123456001, 5],
        [formula, 6],
        [12123456003, formula],
      ],
    };
    const { rows, preview } = await workbookOrganization([sheet]);
    const why = (place: string) =>
      `broken_row: The formula in ${place} has no result in the file; open the workbook in a spreadsheet program, save it and upload it again`;
    const shown = (await preview()).body;
    expect(shown).toMatchObject({ dialable_rows: 1, not_dialable: [{ reason: 'broken_row', count: 2, first_row_number: 2 }] });
    expect((await rows()).map(({ phone, state, reason }) => [phone, state, reason])).toEqual([
      ['+12123456001', 'pending', null],
      ['', 'failed', why('A3')],
      ['12123456003', 'failed', why('B4')],
    ]);
  });

  test('is previewed as it would be called', async () => {
    const { preview } = await workbookOrganization();
    const { status, body } = await preview();
    expect([status, body]).toMatchObject([200, { total_rows: 4, dialable_rows: 2, duplicate_rows: 1 }]);
    expect(body.phone_column).toMatchObject({ name: 'Mobile', others: ['Home phone'] });
    expect(body.columns.map(({ name }: { name: string }) => name)).toEqual(['Mobile', 'First name', 'Home phone', 'column_4', 'column_5']);
  });

  test('reads the sheet that source_options.sheet names', async () => {
    const { create, rows } = await workbookOrganization();
    const created = await create({ sheet: 'old ones' });
    expect([created.status, created.body]).toMatchObject([200, { total_rows: 1, source_options: { sheet: 'old ones' } }]);
    expect((await rows({ sheet: 'old ones' })).map(({ phone }) => phone)).toEqual(['+12123456009']);
  });

  test.each<[string, CellSheet[], object, string[], string]>([
    [
      'no sheet of that name',
      [cover, leads],
      { sheet: 'Lead' },
      ['body', 'source_options', 'sheet'],
      'people.xlsx: The workbook has no sheet "Lead"; its sheets are: "Cover", "Leads"',
    ],
    [
      'no phone column',
      [
        {
          name: 'Prices',
          rows: [
            ['Item', 'Price'],
            ['Tea', '2'],
          ],
        },
        leads,
      ],
      {},
      ['body', 'source_id'],
      'Sheet "Prices" of people.xlsx: No column for phone numbers was found. The headers are: "Item", "Price". Name one of them "phone". The sheets of the workbook are: "Prices", "Leads"; source_options.sheet names the one to read',
    ],
    ['a column that it does not have', [leads], { phone_column: 'Fax' }, ['body', 'source_options', 'phone_column'], 'Sheet "Leads" of'],
    ['no rows', [{ name: 'A', rows: [['Phone', 'Name']] }], {}, ['body', 'source_id'], 'no rows below it'],
    ['nothing in it', [{ name: 'A', rows: [] }], {}, ['body', 'source_id'], 'people.xlsx: The workbook is empty'],
  ])('is refused with what to do: %s', async (_, sheets, source_options, loc, said) => {
    const { create, preview } = await workbookOrganization(sheets);
    for (const answer of [await create(source_options), await preview(source_options)])
      expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].msg]).toEqual([422, loc, expect.stringContaining(said)]);
  });

  /** A workbook with some of its parts replaced, or removed where the text is null. */
  async function changedWorkbook(sheets: CellSheet[], change: (name: string) => string | null | undefined): Promise<Uint8Array> {
    const archive = await JSZip.loadAsync(await workbookOf(sheets));
    for (const name of Object.keys(archive.files)) {
      const text = change(name);
      if (text === null) archive.remove(name);
      else if (text !== undefined) archive.file(name, text);
    }
    return archive.generateAsync({ type: 'uint8array' });
  }

  const archiveOf = (...names: string[]): Promise<Uint8Array> => {
    const archive = new JSZip();
    for (const name of names) archive.file(name, '<x/>');
    return archive.generateAsync({ type: 'uint8array' });
  };
  /** The header of an old Office file and the names of its streams. */
  const compoundFileOf = (...streams: string[]): Uint8Array =>
    Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, ...Buffer.alloc(600), ...streams.flatMap((name) => [...Buffer.from(name, 'utf16le')])]);
  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => `<row r="${index + 2}"><c r="A${index + 2}"><v>${12123456000 + index}</v></c></row>`);
  const cutSheet = (count: number) =>
    `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Phone</t></is></c></row>${rowsOf(count).join('')}<row r="9`;

  test.each<[string, () => Uint8Array | Promise<Uint8Array>, RegExp]>([
    ['one with a password', () => compoundFileOf('EncryptionInfo', 'EncryptedPackage'), /protected by a password; save it without one/],
    ['a Word document', () => archiveOf('word/document.xml'), /a Word document, which cannot be read; save the table in it as/],
    ['a renamed archive', () => archiveOf('people.csv'), /a zip archive, which cannot be read; unpack it/],
    ['an OpenDocument file', () => archiveOf('META-INF/manifest.xml', 'content.xml'), /an OpenDocument file.*save it as \.xlsx or \.csv/],
    [
      'one that names no sheet',
      () => changedWorkbook([leads], (name) => (name === 'xl/workbook.xml' ? 'no xml' : undefined)),
      /damaged: it names no sheet/,
    ],
    [
      'one without its sheet',
      () => changedWorkbook([leads], (name) => (name.endsWith('sheet1.xml') ? null : undefined)),
      /damaged: its sheet "Leads" is missing/,
    ],
    [
      'one whose sheet is cut off',
      () => changedWorkbook([leads], (name) => (name.endsWith('sheet1.xml') ? cutSheet(3) : undefined)),
      /damaged: .*ends in the middle/,
    ],
    [
      'one whose large sheet is cut off',
      () => changedWorkbook([leads], (name) => (name.endsWith('sheet1.xml') ? cutSheet(20_000) : undefined)),
      /damaged: .*ends in the middle/,
    ],
  ])('is refused with what to do where it is %s, and stores no rows', async (_, file, said) => {
    const { create, preview, storedFiles } = await workbookOrganization([], await file());
    for (const { status, body } of [await create(), await preview()])
      expect([status, body.detail[0].loc, body.detail[0].msg]).toEqual([422, ['body', 'source_id'], expect.stringMatching(said)]);
    expect(await storedFiles()).toEqual([]);
  });

  test.each([
    ['an old workbook', [0xd0, 0xcf, 0x11, 0xe0, ...Buffer.alloc(600), ...[...'Workbook'].flatMap((sign) => [sign.charCodeAt(0), 0])]],
    ['one that is cut off', [0x50, 0x4b, 3, 4, 1, 2, 3]],
  ])('is refused where it cannot be read: %s', async (_, bytes) => {
    const { create } = await workbookOrganization([], Uint8Array.from(bytes));
    const { status, body } = await create();
    expect([status, body.detail[0].loc, body.detail[0].msg]).toEqual([
      422,
      ['body', 'source_id'],
      expect.stringMatching(/^people\.xlsx: The file is (an old Excel workbook|damaged)/),
    ]);
  });

  test('a sheet is named of a workbook alone', async () => {
    const { client } = await newOrganization();
    const source_id = await uploaded(client, 'phone\n+12123456001\n');
    const { status, body } = await client.post('/campaign/preview', { source_type: 'csv', source_id, source_options: { sheet: 'A' } });
    expect([status, body.detail[0]]).toEqual([
      422,
      expect.objectContaining({ loc: ['body', 'source_options', 'sheet'], msg: expect.stringContaining('no workbook') }),
    ]);
  });

  test('of another organization is not found', async () => {
    const { source_id } = await workbookOrganization();
    const other = await newOrganization();
    expect((await other.client.post('/campaign/preview', { source_type: 'csv', source_id })).status).toBe(404);
  });
});

describe('the stored rows of a workbook', () => {
  test('are made once, and read from behind any row on as they were before', async () => {
    const { rows, storedFiles } = await workbookOrganization();
    const all = await rows();
    const [made] = await storedFiles();
    const write = vi.spyOn(env.FILES, 'put');
    for (const [index, row] of all.entries()) expect(await rows({}, row)).toEqual(all.slice(index + 1));
    expect(write).not.toHaveBeenCalled();
    write.mockRestore();
    expect(await storedFiles()).toEqual([made]);
  });

  test('are made again where they are gone, and where they could not be written', async () => {
    const { client, create, rows, folder, storedFiles } = await workbookOrganization();
    const write = vi.spyOn(env.FILES, 'put').mockRejectedValueOnce(new Error('put: We encountered an internal error. (10001)'));
    expect((await create()).status).toBeGreaterThanOrEqual(500);
    write.mockRestore();
    expect(await storedFiles()).toEqual([]);
    expect((await create()).status).toBe(200);
    const all = await rows();
    await env.FILES.delete(folder + (await storedFiles())[0]!);
    expect(await rows({}, all[1])).toEqual(all.slice(2));
    await env.FILES.delete(folder + (await storedFiles())[0]!);
    const { id } = (await create()).body;
    await env.FILES.delete(folder + (await storedFiles())[0]!);
    await client.post(`/campaign/${id}/start`);
    expect(await rowsRead(client, id)).toMatchObject({ total_rows: 4 });
  });

  test('are those of the newest upload', async () => {
    const { client, id } = await newOrganization();
    const ticket = (await client.post('/campaign/upload-url', { filename: 'people.xlsx' })).body;
    const preview = () => client.post('/campaign/preview', { source_type: 'csv', source_id: ticket.source_id });
    await put(ticket.upload_url, await workbookOf([leads]));
    expect((await preview()).body.total_rows).toBe(4);
    await put(ticket.upload_url, await workbookOf([old]));
    expect((await preview()).body.rows).toMatchObject([{ phone: '+12123456009' }]);
    expect(id).toBeGreaterThan(0);
  });
});

describe('a campaign whose object dies while it reads a workbook', () => {
  const phones = Array.from({ length: 1200 }, (_, index) => `+1212555${1000 + index}`);
  const folderOf = async (campaign: number, organization: number) => {
    const row = await env.DB.prepare('SELECT source_id FROM campaign WHERE id = ?').bind(campaign).first<{ source_id: string }>();
    return `campaign_sources/${organization}/${row!.source_id}`;
  };

  test.each<[string, 'contacts' | 'get' | 'put', number, number]>([
    ['before it opens the file', 'get', 1, 0],
    ['before it looks for the stored rows', 'get', 2, 0],
    ['before it stores the rows', 'put', 1, 0],
    ['before it reads the stored rows', 'get', 3, 0],
    ['at the second page of rows', 'contacts', 2, 500],
    ['at the third page of rows', 'contacts', 3, 1000],
  ])('has every row once: %s', async (_, call, dies, before) => {
    const campaign = await draftCampaign();
    const key = await folderOf(campaign.id, campaign.organizationId);
    await env.FILES.put(key, await workbookOf([{ name: 'A', rows: [['Phone'], ...phones.map((phone) => [phone])] }]));
    await standAt(campaign, monday);
    const counts = { contacts: 0, get: 0, put: 0 };
    const count = (made: keyof typeof counts) => {
      counts[made] += 1;
      if (made === call && counts[made] === dies) throw new Error('the isolate is gone');
    };
    await inside(campaign.stub(), (object) => {
      const real = object.env;
      const prepare = (sql: string) => {
        // Each page looks up the contacts of its numbers.
        if (/FROM .*contact\b/s.test(sql) && /phone/.test(sql)) count('contacts');
        return real.DB.prepare(sql);
      };
      const database = { prepare, batch: (statements: D1PreparedStatement[]) => real.DB.batch(statements) };
      const files = {
        get: async (name: string) => (count('get'), real.FILES.get(name)),
        put: async (name: string, value: ArrayBuffer) => (count('put'), real.FILES.put(name, value)),
      };
      object.env = new Proxy(real, {
        get: (target, name) => (name === 'DB' ? database : name === 'FILES' ? files : Reflect.get(target, name)),
      });
    });
    await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
    await settle(campaign);
    expect(await inState(campaign, 'syncing')).toMatchObject({ total_rows: before });
    await goTo(campaign, monday + 60_000);
    expect(await inState(campaign, 'running')).toMatchObject({ total_rows: 1200, skipped_rows: 0 });
    expect((await allRows(campaign)).map(({ row_number, phone }) => [row_number, phone])).toEqual(
      phones.map((phone, index) => [index + 1, phone]),
    );
    expect((await env.FILES.list({ prefix: `${key}/` })).objects).toHaveLength(1);
  });
});
