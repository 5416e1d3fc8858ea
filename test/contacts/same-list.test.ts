import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { openPeopleFile } from '../../scripts/import-contacts/open-people-file.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import { readContacts } from '../../src/contacts/import/read-contacts.ts';
import { uploaded } from '../campaigns/campaign-service.ts';
import { syncService } from '../integrations/sync-service.ts';
import { connectIntegration, leadsUrl } from '../support/integrations.ts';
import { newOrganization, type NewOrganization } from '../support/organization.ts';
import { encodeText } from '../support/encode-text.ts';
import { workbookOf } from '../support/people-workbook.ts';
import { collect } from './import-reading.ts';

const german: NewOrganization = { defaultCountry: 'DE' };
const title = 'Unsere Kunden, Stand Herbst';
const header = ['First name', 'Last name', 'Email', 'Company phone', 'Work phone', 'Home phone', 'Direct phone', 'Mobile', 'Note'];
/** Every kind of row: each phone column, national forms, quotes, line breaks, people twice, bad numbers and addresses, cells right of the headers. */
const people = [
  ['Jürgen', 'Groß', 'j@example.org', '+49 30 9000001', '', '', '', '0170 1234567', 'asked for "Tee", twice'],
  ['Zoë', 'Lefèvre', 'z@example.org', '+49 30 9000001', '+33 1 42 68 53 00', '', '+33 6 12 34 56 78', '', 'two\nlines; and a semicolon'],
  ['José', 'Núñez', 'n@example.org', '+49 30 9000001', '+34 910 600 001', '+34 911 600 002', '', '', "café, l'été"],
  ['Anaïs "die Große"', 'Müller-Lüdenscheidt', '', '', '030 9000004', '', '', '', 'a tab\tand | a bar'],
  ['Firma', '', 'info@example.org', '+49 30 9000005', '', '', '', '', '\'n\' roll, three\n\n"quoted"\nlines'],
  ['Jürgen', 'Groß', '', '', '', '', '', '+49 (0)170 1234567', ''],
  ['Bad', 'Number', 'b@example.org', '', '', '', '', '12', 'nobody can call'],
  ['Half', 'Bad', 'keine @', '', '+49 30 9000008', '', '', 'n/a', 'the mobile is none'],
  ['Wide', 'Row', 'w@example.org', '', '', '', '', '+49 170 1234569', '', 'beyond', '', 'far beyond'],
  ['Nobody', '', '', '', '', '', '', '', 'without a number'],
  ['Zoé', '', '', '', '', '', '(06) 12 34 56 78', '+33 6 12 34 56 78', 'three', '', 'later'],
  ['', 'Schön', '', '030/9000005', '', '', '', '', ''],
  ['', '', 'sz@example.org', '', '', '', '', '0170 / 1234567', 'at last'],
  ['Doppel', 'Nummer', 'Doppel <d@example.org>, n@example.org', '', '', '', '', '0170 1234571 / 0170 1234572', ''],
];

const toText = (delimiter: string, lines: string[][] = [[title], header, ...people]): string =>
  lines
    .map((cells) => cells.map((text) => (/["\n,;\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(delimiter))
    .join('\r\n') + '\r\n';

const ways: [string, () => Uint8Array | Promise<Uint8Array>][] = [
  ['csv', () => encodeText(toText(','), 'utf-8')],
  ['tsv', () => encodeText(toText('\t'), 'utf-8')],
  ['semicolons', () => encodeText(toText(';'), 'utf-8')],
  ['UTF-16', () => encodeText(`\ufeff${toText('\t')}`, 'utf-16le')],
  ['Windows-1252', () => encodeText(toText(';'), 'windows-1252')],
  ['xlsx', () => workbookOf([{ name: 'Kunden', rows: [[title], header, ...people] }])],
  ['bars', () => encodeText(toText('|'), 'utf-8')],
  ['csv with a mark', () => encodeText(`\ufeff${toText(',')}`, 'utf-8')],
  ['UTF-16 without a mark', () => encodeText(toText('\t'), 'utf-16be')],
  ['Macintosh', () => encodeText(toText(','), 'macintosh')],
  ['quotes behind backslashes', () => encodeText(toText(',').replaceAll('""', '\\"'), 'utf-8')],
  [
    'xlsx with a cover sheet',
    () =>
      workbookOf([
        { name: 'Deckblatt', rows: [['Bitte lesen']] },
        { name: 'Kunden', rows: [[title], [], header, ...people] },
      ]),
  ],
];

/** What the import program sends to bulk-upsert, and the rows that it refuses. */
async function importedFrom(bytes: Uint8Array) {
  const { table } = await openPeopleFile(bytes, { encoding: undefined, sheet: undefined });
  const rows = await collect(readContacts(table, 'DE').rows);
  return {
    contacts: rows.flatMap((row) => ('contact' in row ? [row.contact] : [])),
    refused: rows.flatMap((row) => ('refused' in row ? [[row.row_number, row.refused.reason, row.refused.phone]] : [])),
  };
}

type SourceChoice = Parameters<typeof openCampaignSource>[1];

async function campaignRowsOf(organizationId: number, source: SourceChoice): Promise<CampaignSourceRow[]> {
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  return (await collect((await openCampaignSource(context, source)).batches(new CompactSeenPhones()))).flat();
}

async function campaignRowsFrom(bytes: Uint8Array): Promise<CampaignSourceRow[]> {
  const { client, id } = await newOrganization(german);
  return campaignRowsOf(id, { source_type: 'csv', source_id: await uploaded(client, bytes), source_options: {} });
}

/** What is compared of a campaign's row. `phone_column` is an index, which is the same in every file. */
const toComparable = ({ row_number, phone, phone_column, state, reason, variables }: CampaignSourceRow) => ({
  row_number,
  phone,
  phone_column,
  state,
  reason,
  variables,
});

const byPhone = (contacts: any[][]) => contacts.toSorted(([one], [other]) => (one < other ? -1 : 1));
const toContacts = (stored: any[]) =>
  byPhone(stored.map(({ phone, first_name, last_name, email, custom_fields }) => [phone, first_name, last_name, email, custom_fields]));

const emptySheet = (rows: number) => Array.from({ length: rows }, () => Array.from({ length: 14 }, () => ''));
/** Writes rows into the leads, and empties all other cells. */
const toWholeSheet = (rows: string[][]) => emptySheet(130).map((blank, row) => blank.map((_, column) => rows[row]?.[column] ?? ''));

const expectedPhones = [
  [1, '+491701234567', 'pending', 'Mobile'],
  [2, '+33612345678', 'pending', 'Direct phone'],
  [3, '+34911600002', 'pending', 'Home phone'],
  [4, '+49309000004', 'pending', 'Work phone'],
  [5, '+49309000005', 'pending', 'Company phone'],
  [6, '+491701234567', 'skipped', 'Mobile'],
  [7, '12', 'failed', undefined],
  [8, '+49309000008', 'pending', 'Work phone'],
  [9, '+491701234569', 'pending', 'Mobile'],
  [10, '', 'failed', undefined],
  [11, '+33612345678', 'skipped', 'Mobile'],
  [12, '+49309000005', 'skipped', 'Company phone'],
  [13, '+491701234567', 'skipped', 'Mobile'],
  [14, '+491701234571', 'pending', 'Mobile'],
];

/** The people as contacts: values of a later row win, and its empty cells keep what is there. */
const expectedContacts = [
  ['+491701234567', 'Jürgen', 'Groß', 'sz@example.org', { note: 'at last', company_phone: '+49 30 9000001' }],
  [
    '+33612345678',
    'Zoé',
    'Lefèvre',
    'z@example.org',
    {
      note: 'three',
      company_phone: '+49 30 9000001',
      work_phone: '+33 1 42 68 53 00',
      direct_phone: '(06) 12 34 56 78',
      column_11: 'later',
    },
  ],
  [
    '+34911600002',
    'José',
    'Núñez',
    'n@example.org',
    { note: "café, l'été", company_phone: '+49 30 9000001', work_phone: '+34 910 600 001' },
  ],
  ['+49309000004', 'Anaïs "die Große"', 'Müller-Lüdenscheidt', null, { note: 'a tab\tand | a bar' }],
  ['+49309000005', 'Firma', 'Schön', 'info@example.org', { note: '\'n\' roll, three\n\n"quoted"\nlines' }],
  ['+49309000008', 'Half', 'Bad', null, { note: 'the mobile is none', mobile: 'n/a', email_column: 'keine @' }],
  ['+491701234569', 'Wide', 'Row', 'w@example.org', { column_10: 'beyond', column_12: 'far beyond' }],
  [
    '+491701234571',
    'Doppel',
    'Nummer',
    'd@example.org',
    { mobile: '0170 1234571 / 0170 1234572', email_column: 'Doppel <d@example.org>, n@example.org' },
  ],
];

describe('the same list of people is the same people', () => {
  test('to the import: each with the phone of the first column in order that has one', async () => {
    const { contacts, refused } = await importedFrom(await ways[0]![1]());
    expect(contacts.map(({ phone, first_name }) => [phone, first_name])).toEqual([
      ['+491701234567', 'Jürgen'],
      ['+33612345678', 'Zoë'],
      ['+34911600002', 'José'],
      ['+49309000004', 'Anaïs "die Große"'],
      ['+49309000005', 'Firma'],
      ['+491701234567', 'Jürgen'],
      ['+49309000008', 'Half'],
      ['+491701234569', 'Wide'],
      ['+33612345678', 'Zoé'],
      ['+49309000005', undefined],
      ['+491701234567', undefined],
      ['+491701234571', 'Doppel'],
    ]);
    expect(contacts[1]!.custom_fields).toEqual({
      company_phone: '+49 30 9000001',
      work_phone: '+33 1 42 68 53 00',
      note: 'two\nlines; and a semicolon',
    });
    expect(contacts[7]!.custom_fields).toEqual({ column_10: 'beyond', column_12: 'far beyond' });
    expect(refused).toEqual([
      [7, 'too_short', '12'],
      [10, 'no_key', ''],
    ]);
  });

  test('to a campaign: each row with its phone, its state and its variables', async () => {
    const rows = await campaignRowsFrom(await ways[0]![1]());
    expect(
      rows.map((row) => [row.row_number, row.phone, row.state, row.phone_column === undefined ? undefined : header[row.phone_column]]),
    ).toEqual(expectedPhones);
    expect(rows[5]!.reason).toBe('duplicate: row 1 has the same number');
    expect(rows[4]!.variables['note']).toBe('\'n\' roll, three\n\n"quoted"\nlines');
    expect(rows[8]!.variables).toMatchObject({ note: '', column_10: 'beyond', column_12: 'far beyond' });
    expect(rows[8]!.variables).not.toHaveProperty('column_11');
  });

  test.each(ways)('from %s', async (_, make) => {
    const [plain, bytes] = [await ways[0]![1](), await make()];
    expect(await importedFrom(bytes)).toEqual(await importedFrom(plain));
    expect((await campaignRowsFrom(bytes)).map(toComparable)).toEqual((await campaignRowsFrom(plain)).map(toComparable));
  });

  test('from a sheet that is not synchronized, to a campaign', async () => {
    const service = await syncService(german);
    const { id: integration } = await connectIntegration(service.client, 'sheet');
    await env.DB.prepare('UPDATE integration SET provider_data = ?, field_mapping = ? WHERE id = ?')
      .bind(JSON.stringify({ sheet_url: leadsUrl, sheet_name: 'Leads' }), '{}', integration)
      .run();
    await service.setCells('A1', toWholeSheet([[title], header, ...people]));
    const rows = await campaignRowsOf(service.id, { source_type: 'sheet', source_id: String(integration), source_options: {} });
    expect(rows.map(toComparable)).toEqual((await campaignRowsFrom(await ways[0]![1]())).map(toComparable));
  });

  test.each([
    ['below a title', [[title], header, ...people]],
    ['below a title and an empty row', [[title], [], header, ...people]],
    ['with the headers in its first row', [header, ...people]],
  ])('from a sheet %s that is synchronized, to the contacts and to a campaign, however often', async (_, rows) => {
    const service = await syncService(german);
    await service.setCells('A1', toWholeSheet(rows));
    const { id: integration } = await connectIntegration(service.client, 'sheet');
    const choice = { sheet_url: leadsUrl, contact_list_name: 'Kunden' };
    expect((await service.client.post(`/integration/${integration}/sheet/select`, choice)).status).toBe(200);
    await service.work();
    const first = rows.indexOf(header) + 1;
    const sync = await service.lastSync(integration);
    expect(sync).toMatchObject({ status: 'completed', rows_seen: people.length, created: expectedContacts.length, updated: 0, failed: 2 });
    expect(sync.errors.map(({ row, detail }: any) => [row - first, detail])).toEqual([
      [7, 'invalid_phone'],
      [10, 'no_key'],
    ]);
    expect(toContacts(await service.contacts())).toEqual(byPhone(expectedContacts));
    expect(await service.resync(integration)).toMatchObject({ created: 0, updated: 0 });
    expect(toContacts(await service.contacts())).toEqual(byPhone(expectedContacts));
    const read = await campaignRowsOf(service.id, { source_type: 'sheet', source_id: String(integration), source_options: {} });
    const withoutContacts = (await campaignRowsFrom(await ways[0]![1]())).map(toComparable);
    expect(read.map(toComparable)).toEqual(withoutContacts);
    expect(read.map(({ contact_id }) => contact_id === null)).toEqual(withoutContacts.map(({ state }) => state === 'failed'));
  });

  test('to bulk-upsert, which stores them once, however often and from whatever file they come', async () => {
    const { client } = await newOrganization(german);
    const first = await importedFrom(await ways[0]![1]());
    const answer = await client.post('/contacts/bulk-upsert', { list_name: 'Kunden', contacts: first.contacts });
    expect(answer.body).toMatchObject({ created: expectedContacts.length, failed: 0 });
    const read = async () => (await client.get('/contacts/?limit=100')).body.contacts as Record<string, unknown>[];
    const toStored = (all: Record<string, unknown>[]) =>
      all
        .map(({ id, phone, first_name, last_name, email, custom_fields }) => ({ id, phone, first_name, last_name, email, custom_fields }))
        .toSorted((one, other) => Number(one.id) - Number(other.id));
    const stored = toStored(await read());
    expect(toContacts(stored)).toEqual(byPhone(expectedContacts));
    for (const [way, make] of ways) {
      const { contacts } = await importedFrom(await make());
      const again = await client.post('/contacts/bulk-upsert', { list_name: 'Kunden', contacts });
      expect([way, again.body]).toMatchObject([way, { created: 0, failed: 0 }]);
      expect([way, toStored(await read())]).toEqual([way, stored]);
    }
  });
});
