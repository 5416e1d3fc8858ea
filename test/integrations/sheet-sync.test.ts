import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { changeAtGoogle, messyUrl } from '../support/integrations.ts';
import { recordedDatabase } from '../support/recorded-database.ts';
import { leadsMapping, syncService, type SyncService } from './sync-service.ts';

const list = 'Leads of the fair';

/** With the leads read into their list. */
async function leadsService() {
  const service = await syncService();
  const integration = await service.connectSheet(list);
  await service.work();
  return { ...service, integration };
}

describe('a sync of a sheet', () => {
  test('brings every row into the list', async () => {
    const { integration, lastSync, integrationOf, contacts, members, listCount } = await leadsService();
    expect(await lastSync(integration)).toMatchObject({ status: 'completed', rows_seen: 120, created: 120, failed: 0, errors: [] });
    expect(await integrationOf(integration)).toMatchObject({ last_error: null, last_synced_at: expect.any(String) });
    const all = await contacts();
    expect(all[0]).toMatchObject({ phone: '+19172000100', first_name: 'Amara Adeyemi', custom_fields: { city: 'Lisbon' } });
    expect(await members(list)).toEqual(all.map(({ id }) => id));
    expect(await listCount(list)).toBe(120);
  });

  test('a second time changes nothing, row by row', async () => {
    const { integration, resync, contacts, links } = await leadsService();
    const before = [await contacts(), await links()];
    expect(await resync(integration)).toMatchObject({ rows_seen: 120, created: 0, updated: 0, unchanged: 120 });
    expect([await contacts(), await links()]).toEqual(before);
  });

  test('rows that vanish leave the list, and their contacts stay', async () => {
    const { integration, resync, deleteRows, contacts, members, links, listCount } = await leadsService();
    const before = await contacts();
    await deleteRows(3, 20);
    expect(await resync(integration)).toMatchObject({ rows_seen: 100, unchanged: 100 });
    expect(await contacts()).toEqual(before);
    expect(await members(list)).toEqual(before.filter((_, index) => index < 1 || index > 20).map(({ id }) => id));
    expect([await listCount(list), (await links()).length]).toEqual([100, 100]);
  });

  test('a row that comes again joins the list again', async () => {
    const { integration, resync, deleteRows, setCells, members } = await leadsService();
    const before = await members(list);
    await deleteRows(121, 1);
    await resync(integration);
    await setCells('A121', [['Back', '+19172000219']]);
    expect(await resync(integration)).toMatchObject({ created: 0, updated: 1 });
    expect(await members(list)).toEqual(before);
  });

  test('puts back who was taken off the list, since the list is that of the sheet', async () => {
    const { client, integration, resync, members, contacts } = await leadsService();
    const [contact] = await contacts();
    const [found] = (await client.get('/contacts/lists')).body.lists;
    await client.delete(`/contacts/lists/${found.id}/contacts/${contact.id}`);
    expect(await members(list)).toHaveLength(119);
    expect(await resync(integration)).toMatchObject({ unchanged: 120, updated: 0 });
    expect(await members(list)).toHaveLength(120);
    await client.delete(`/contacts/lists/${found.id}`);
    await resync(integration);
    expect(await members(list)).toHaveLength(120);
  });

  test('takes over cells that were changed or emptied, and leaves what was changed here', async () => {
    const { client, integration, resync, setCells, contacts } = await leadsService();
    const [, second] = await contacts();
    await client.put(`/contacts/${second.id}`, { email: 'ours@example.com' });
    await setCells('A2', [['Renamed', '(917) 200-0100', '']]);
    expect(await resync(integration)).toMatchObject({ updated: 1, unchanged: 119 });
    expect((await contacts()).slice(0, 2)).toMatchObject([{ first_name: 'Renamed', email: null }, { email: 'ours@example.com' }]);
  });

  test('reads numbers as text, skips blank rows, and tells the rows that are nobody', async () => {
    const { connectSheet, work, lastSync, contacts } = await syncService();
    const id = await connectSheet(
      'Messy',
      { phone: 'Phone', first_name: 'Name', last_name: 'Name_2', 'custom_fields.note': 'Notes' },
      messyUrl,
    );
    await work();
    expect(await lastSync(id)).toMatchObject({ rows_seen: 6, created: 3, failed: 3 });
    expect((await lastSync(id)).errors).toEqual([
      { row: 2, detail: 'invalid_phone', message: expect.stringMatching(/.*919876543210/) },
      { row: 4, detail: 'no_key', message: expect.any(String) },
      { row: 8, detail: 'invalid_phone', message: expect.any(String) },
    ]);
    expect(
      (await contacts()).map(({ phone, first_name, last_name, custom_fields }) => [phone, first_name, last_name, custom_fields]),
    ).toEqual([
      ['+19172005001', 'Grace', 'Hopper', {}],
      ['+19172005002', null, null, {}],
      ['+19172005003', 'Alan', 'Turing', { note: '=1+1' }],
    ]);
  });

  test('has no phone but that of the mapped column where this is called otherwise: it was chosen', async () => {
    const { connectSheet, setCells, work, contacts } = await syncService();
    await setCells('A1', [
      ['Full Name', 'Mobile No.', 'Shop'],
      ['One', '+19172009001', '+19172009002'],
      ['Two', '+19172009003', ''],
    ]);
    await connectSheet(list, { phone: 'Shop', first_name: 'Full Name' });
    await work();
    const found = (await contacts()).map(({ phone, first_name }) => [phone, first_name]);
    expect(found).toContainEqual(['+19172009002', 'One']);
    expect(found.flat()).not.toContain('+19172009003');
  });

  test('has the phone of another phone column where the mapped one has none, row by row', async () => {
    const { connectSheet, work, setCells, contacts } = await syncService();
    await setCells('A1', [
      ['Full Name', 'Mobile No.', 'Company phone', 'Work phone', 'City'],
      ['Ada', '+1 917 200 0001', '+12125550001', '+12125550002', ''],
      ['Grace', '', '+12125550003', '+12125550004', ''],
      ['Edsger', 'n/a', '+12125550005', '', ''],
    ]);
    await connectSheet(list, { phone: 'Mobile No.', first_name: 'Full Name', 'custom_fields.city': 'City' });
    await work();
    expect((await contacts()).slice(0, 3).map(({ phone, first_name }) => [phone, first_name])).toEqual([
      ['+19172000001', 'Ada'],
      ['+12125550004', 'Grace'],
      ['+12125550005', 'Edsger'],
    ]);
  });

  test('splits whole names where one column is mapped to both', async () => {
    const { connectSheet, work, contacts } = await syncService();
    await connectSheet(list, { phone: 'Mobile No.', first_name: 'Full Name', last_name: 'Full Name' });
    await work();
    expect((await contacts())[0]).toMatchObject({ first_name: 'Amara', last_name: 'Adeyemi' });
  });

  test('keeps what of the mapped phone cell is no phone of the contact, as an import does', async () => {
    const { connectSheet, work, resync, setCells, contacts } = await syncService();
    await setCells('A1', [
      ['Full Name', 'Mobile No.', 'Work phone'],
      ['Two', '+1 917 200 9001 / +1 917 200 9002', ''],
      ['Half', 'n/a', '+12125550005'],
      ['Whole', '+1 917 200 9003', '+12125550006'],
    ]);
    const id = await connectSheet(list, { phone: 'Mobile No.', first_name: 'Full Name' });
    await work();
    const found = async () => (await contacts()).slice(0, 3).map(({ phone, custom_fields }) => [phone, custom_fields]);
    expect(await found()).toEqual([
      ['+19172009001', { mobile_no: '+1 917 200 9001 / +1 917 200 9002' }],
      ['+12125550005', { mobile_no: 'n/a' }],
      ['+19172009003', {}],
    ]);
    await setCells('B3', [['+1 917 200 9004']]);
    await resync(id);
    expect((await contacts()).find(({ phone }) => phone === '+19172009004')).toMatchObject({ first_name: 'Half', custom_fields: {} });
  });

  test('makes no one person of all who have the same placeholder as id', async () => {
    const { connectSheet, work, setCells, contacts, lastSync } = await syncService();
    await setCells('A1', [
      ['Full Name', 'Mobile No.', 'Customer ID'],
      ['One', '+19172009001', 'n/a'],
      ['Two', '+19172009002', 'N/A'],
      ['Three', '', '9.18E+11'],
      ['Four', '+19172009004', 'C-4'],
    ]);
    const id = await connectSheet(list, { phone: 'Mobile No.', first_name: 'Full Name', external_id: 'Customer ID' });
    await work();
    const found = (await contacts()).map(({ phone, external_id, first_name }) => [phone, external_id, first_name]);
    expect(found).toContainEqual(['+19172009001', null, 'One']);
    expect(found).toContainEqual(['+19172009002', null, 'Two']);
    expect(found).toContainEqual(['+19172009004', 'C-4', 'Four']);
    expect((await contacts()).find(({ first_name }) => first_name === 'Two')).toMatchObject({ custom_fields: { customer_id: 'N/A' } });
    expect((await lastSync(id)).errors).toContainEqual(expect.objectContaining({ row: 4, detail: 'no_key' }));
  });

  test('finds its headers below titles, and names rows as the sheet does', async () => {
    const { connectSheet, work, setCells, contacts, lastSync, resync, members } = await syncService();
    await setCells('A1', [
      ['Our leads of autumn', '', '', '', ''],
      ['', '', '', '', ''],
      ['Full Name', 'Mobile No.', 'E-mail', 'City', ''],
      ['Ada', '+19172009001', '', 'Lisbon', ''],
      ['Nobody', '', '', '', ''],
    ]);
    await setCells('A700', [['Far below', '+19172009002']]);
    const id = await connectSheet(list, leadsMapping);
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 119, created: 118, failed: 1 });
    expect((await lastSync(id)).errors).toEqual([{ row: 5, detail: 'no_key', message: expect.any(String) }]);
    const before = await contacts();
    expect(before[0]).toMatchObject({ phone: '+19172009001', first_name: 'Ada', custom_fields: { city: 'Lisbon' } });
    expect(before.at(-1)).toMatchObject({ phone: '+19172009002', first_name: 'Far below' });
    expect(await resync(id)).toMatchObject({ created: 0, updated: 0, unchanged: 118, failed: 1 });
    expect([await contacts(), await members(list)]).toEqual([before, before.map((contact) => contact.id)]);
  });

  test('goes on below a title that is put above its headers later', async () => {
    const { integration, resync, setCells, insertRows, contacts } = await leadsService();
    const before = await contacts();
    await insertRows(1, 1);
    await setCells('A1', [['Our leads']]);
    expect(await resync(integration)).toMatchObject({ status: 'completed', rows_seen: 120, unchanged: 120 });
    expect(await contacts()).toEqual(before);
  });

  test('a header that was renamed stops it, keeps everything, and heals when it is back', async () => {
    const { integration, resync, setCells, contacts, members, lastSync, integrationOf } = await leadsService();
    const before = [await contacts(), await members(list)];
    await setCells('B1', [['Telephone']]);
    await resync(integration);
    const reason = expect.stringMatching(
      /^mapping_broken: the sheet has no column "Mobile No\." any more; its columns are "Full Name", "Telephone"/,
    );
    expect(await lastSync(integration)).toMatchObject({ status: 'failed', reason, rows_seen: 0 });
    expect(await integrationOf(integration)).toMatchObject({ is_active: true, last_error: reason });
    expect([await contacts(), await members(list)]).toEqual(before);
    await setCells('B1', [['Mobile No.']]);
    expect(await resync(integration)).toMatchObject({ status: 'completed', unchanged: 120 });
    expect((await integrationOf(integration)).last_error).toBeNull();
  });

  test('a tab that was renamed, a sheet in the bin, and an emptied one stop it, and keep everything', async () => {
    const { id, integration, resync, members, lastSync, setCells } = await leadsService();
    const before = await members(list);
    const rename = (title: string) =>
      changeAtGoogle(id, 'POST', '/v4/spreadsheets/simulated-leads:batchUpdate', {
        requests: [{ updateSheetProperties: { properties: { sheetId: 0, title }, fields: 'title' } }],
      });
    await rename('Contacts');
    await resync(integration);
    expect(await lastSync(integration)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^mapping_broken: "Leads" has no sheet "Leads" any more, but "Contacts", "Last year's"/),
    });
    await rename('Leads');
    await changeAtGoogle(id, 'PATCH', '/drive/v3/files/simulated-leads', { trashed: true });
    await resync(integration);
    expect(await lastSync(integration)).toMatchObject({ status: 'failed', reason: expect.stringContaining('in the bin') });
    await changeAtGoogle(id, 'PATCH', '/drive/v3/files/simulated-leads', { trashed: false });
    await setCells(
      'A1',
      Array.from({ length: 121 }, () => ['', '', '', '', '']),
    );
    await resync(integration);
    expect(await lastSync(integration)).toMatchObject({ status: 'failed', reason: expect.stringContaining('its columns are none') });
    expect(await members(list)).toEqual(before);
  });

  test('with headers alone has no rows, and then everybody leaves the list', async () => {
    const { integration, resync, deleteRows, members, contacts } = await leadsService();
    await deleteRows(2, 120);
    expect(await resync(integration)).toMatchObject({ status: 'completed', rows_seen: 0 });
    expect(await members(list)).toEqual([]);
    expect(await contacts()).toHaveLength(120);
  });

  test('whose columns are moved is read by their names', async () => {
    const { integration, resync, setCells, contacts } = await leadsService();
    await setCells('A1', [
      ['Mobile No.', 'Full Name'],
      ['+19172000100', 'Swapped'],
    ]);
    await resync(integration);
    expect((await contacts())[0]).toMatchObject({ phone: '+19172000100', first_name: 'Swapped' });
  });

  test('a row that is given an id is the same person by its phone, and stays on the list', async () => {
    const { client, integration, resync, setCells, contacts, members, links } = await leadsService();
    await setCells('F1', [['Customer ID'], ['C-1']]);
    await client.put(`/integration/${integration}/field-mapping`, { field_mapping: { ...leadsMapping, external_id: 'Customer ID' } });
    expect(await resync(integration)).toMatchObject({ rows_seen: 120, created: 0, updated: 1 });
    expect((await contacts())[0]).toMatchObject({ external_id: 'C-1', phone: '+19172000100' });
    expect(await members(list)).toHaveLength(120);
    expect((await links()).map(({ external_id }) => external_id)).not.toContain('phone:+19172000100');
  });

  test('a mapped column may stand right of the headers, where its place is its name', async () => {
    const { client, connectSheet, work, setCells, contacts, resync, lastSync } = await syncService();
    await setCells('G2', [['near'], [''], ['far']]);
    const id = await connectSheet(list, { ...leadsMapping, 'custom_fields.extra': 'column_7' });
    const mapExtraTo = async (column: string) => {
      const field_mapping = { ...leadsMapping, 'custom_fields.extra': column };
      expect((await client.put(`/integration/${id}/field-mapping`, { field_mapping })).status).toBe(200);
      await work();
    };
    await work();
    const extras = async () => (await contacts()).slice(0, 3).map(({ custom_fields }) => custom_fields.extra);
    expect(await extras()).toEqual(['near', undefined, 'far']);
    await mapExtraTo('column_27');
    expect(await lastSync(id)).toMatchObject({ status: 'failed', reason: expect.stringContaining('no column "column_27" any more') });
    await mapExtraTo('column_7');
    await setCells('F1', [['Rank', 'Extra']]);
    expect(await resync(id)).toMatchObject({ status: 'failed', reason: expect.stringContaining('no column "column_7" any more') });
    expect(await extras()).toEqual(['near', undefined, 'far']);
  });

  test('a row that is refused is still there, so its contact stays on the list', async () => {
    const { integration, resync, setCells, members } = await leadsService();
    await setCells('A3', [['a'.repeat(5000)]]);
    expect(await resync(integration)).toMatchObject({
      failed: 1,
      errors: [{ row: 3, detail: 'invalid_first_name', message: expect.any(String) }],
    });
    expect(await members(list)).toHaveLength(120);
  });
});

describe('several rows of one person', () => {
  /** The leads, with more rows of the first three on both pages, read into their list. */
  async function repeatedLeads() {
    const service = await syncService();
    await service.setCells('A122', [
      ['Other', '+19172000100', '', '', ''],
      ['Amara Adeyemi', '+19172000100', '', '', ''],
      ['', '+19172000102', 'third@example.org', '', ''],
    ]);
    await service.setCells('A700', [
      ['Far below', '+1 917 200 0101', '', '', 'Porto'],
      ['Further', '(917) 200-0101', '', '', ''],
    ]);
    const integration = await service.connectSheet(list);
    await service.work();
    const first = async (count = 3) => (await service.contacts()).slice(0, count);
    const second = async () => (await first())[1];
    return { ...service, integration, first, second };
  }

  test('are folded as bulk-upsert does: later values win, empty cells keep the earlier ones', async () => {
    const { integration, lastSync, first, links, members } = await repeatedLeads();
    expect(await lastSync(integration)).toMatchObject({
      status: 'completed',
      rows_seen: 125,
      created: 120,
      updated: 1,
      unchanged: 4,
      failed: 0,
    });
    expect(await first()).toMatchObject([
      { phone: '+19172000100', first_name: 'Amara Adeyemi', email: 'amara.adeyemi.0@leads.example.com', custom_fields: { city: 'Lisbon' } },
      { phone: '+19172000101', first_name: 'Further', custom_fields: { city: 'Porto' } },
      { phone: '+19172000102', email: 'third@example.org', first_name: expect.stringMatching(/./) },
    ]);
    expect([(await links()).length, (await members(list)).length]).toEqual([120, 120]);
  });

  /** The second lead has a row with an id, and below a row with its phone alone. */
  async function leadUnderTwoKeys(below: string) {
    const service = await syncService();
    await service.setCells('F1', [['Customer ID'], [''], ['C-2']]);
    await service.setCells(below, [['Below', '+19172000101', '', '', '']]);
    const integration = await service.connectSheet(list, { ...leadsMapping, external_id: 'Customer ID' });
    await service.work();
    const lead = async () => (await service.contacts())[1];
    expect(await lead()).toMatchObject({ external_id: 'C-2', phone: '+19172000101', first_name: 'Below' });
    return { ...service, integration, lead };
  }

  test('under different keys are folded in their order after the first reading, as bulk-upsert folds them', async () => {
    const { integration, resync, setCells, lead, members } = await leadUnderTwoKeys('A122');
    await setCells('A3', [['Above', '+19172000101', 'above@example.org', '', 'Faro']]);
    expect(await resync(integration)).toMatchObject({ failed: 0, created: 0 });
    expect(await lead()).toMatchObject({ first_name: 'Below', email: 'above@example.org', custom_fields: { city: 'Faro' } });
    const { revision } = await lead();
    expect(await resync(integration)).toMatchObject({ failed: 0, updated: 0, unchanged: 121 });
    expect((await lead()).revision).toBe(revision);
    await setCells('A122', [['Lower', '+19172000101', 'below@example.org', '', '']]);
    await resync(integration);
    expect(await lead()).toMatchObject({ first_name: 'Lower', email: 'below@example.org', custom_fields: { city: 'Faro' } });
    await setCells('A3', [['', '+19172000101', 'above@example.org', '', '']]);
    await resync(integration);
    expect(await lead()).toMatchObject({ first_name: 'Lower', email: 'below@example.org', custom_fields: {} });
    expect(await members(list)).toHaveLength(120);
  });

  test('under different keys keep what was changed here in a field that no row changes', async () => {
    const { client, integration, resync, setCells, lead } = await leadUnderTwoKeys('A122');
    await client.put(`/contacts/${(await lead()).id}`, { first_name: 'Ours' });
    await setCells('C3', [['above@example.org']]);
    await resync(integration);
    expect(await lead()).toMatchObject({ first_name: 'Ours', email: 'above@example.org' });
  });

  test('under different keys on two pages: the lower one is named where the upper one has changed, and its person stays on the list', async () => {
    const { integration, resync, setCells, lead, members } = await leadUnderTwoKeys('A700');
    await setCells('A3', [['Above', '+19172000101', 'above@example.org', '', 'Faro']]);
    const sync = await resync(integration);
    expect(sync).toMatchObject({ failed: 1, updated: 1, unchanged: 119, errors: [{ row: 700, detail: 'same_person' }] });
    expect(sync.errors[0].message).toContain('give both rows one id');
    expect(await lead()).toMatchObject({ first_name: 'Above' });
    expect(await members(list)).toHaveLength(120);
    expect(await resync(integration)).toMatchObject({ failed: 0, unchanged: 121 });
  });

  test('under different keys leave the value of the row above where the one below is emptied', async () => {
    const service = await syncService();
    await service.setCells('F1', [['Customer ID'], [''], ['C-2']]);
    await service.setCells('A122', [['Below', '+19172000101', 'below@example.org', '', '']]);
    const integration = await service.connectSheet(list, { ...leadsMapping, external_id: 'Customer ID' });
    await service.work();
    await service.setCells('A122', [['Below', '+19172000101', '', '', '']]);
    await service.resync(integration);
    expect((await service.contacts())[1]).toMatchObject({ first_name: 'Below', email: expect.stringContaining('leads.example.com') });
  });

  test('change nothing a second time, on whatever page they are', async () => {
    const { integration, resync, contacts } = await repeatedLeads();
    const before = await contacts();
    for (let time = 0; time < 2; time++) {
      expect(await resync(integration)).toMatchObject({ rows_seen: 125, created: 0, updated: 0, unchanged: 125, failed: 0 });
      expect(await contacts()).toEqual(before);
    }
  });

  test('are folded anew when one of them is changed: an earlier one does not replace the values of a later one', async () => {
    const { integration, resync, setCells, second } = await repeatedLeads();
    await setCells('A3', [['Renamed above', '+19172000101', 'above@example.org', '', 'Faro']]);
    expect(await resync(integration)).toMatchObject({ updated: 1, unchanged: 124 });
    expect(await second()).toMatchObject({ first_name: 'Further', email: 'above@example.org', custom_fields: { city: 'Porto' } });
    expect((await second()).revision).toBe(3);
    await setCells('A701', [['', '(917) 200-0101']]);
    await resync(integration);
    expect(await second()).toMatchObject({ first_name: 'Far below' });
    await setCells('A700', [['', '(917) 200-0101', '', '', '']]);
    await resync(integration);
    expect(await second()).toMatchObject({ first_name: 'Renamed above', custom_fields: { city: 'Faro' } });
  });

  test('are folded without one that is deleted, in the same sync', async () => {
    const { integration, resync, deleteRows, second, contacts } = await repeatedLeads();
    await deleteRows(701, 1);
    expect(await resync(integration)).toMatchObject({ status: 'completed', rows_seen: 124 });
    expect(await second()).toMatchObject({ first_name: 'Far below' });
    await deleteRows(700, 1);
    await resync(integration);
    expect(await second()).toMatchObject({ first_name: expect.not.stringContaining('Far') });
    const before = await contacts();
    expect(await resync(integration)).toMatchObject({ rows_seen: 123, updated: 0, unchanged: 123 });
    expect(await contacts()).toEqual(before);
  });

  test('are folded in their order when they change places', async () => {
    const { integration, resync, setCells, second, contacts } = await repeatedLeads();
    await setCells('A700', [
      ['Further', '(917) 200-0101', '', '', ''],
      ['Far below', '+1 917 200 0101', '', '', 'Porto'],
    ]);
    await resync(integration);
    expect(await second()).toMatchObject({ first_name: 'Far below' });
    const before = await contacts();
    expect(await resync(integration)).toMatchObject({ updated: 0 });
    expect(await contacts()).toEqual(before);
  });

  test('of which one cannot be stored are folded without it, and it is named', async () => {
    const { integration, resync, setCells, second, members } = await repeatedLeads();
    await setCells('A701', [['a'.repeat(5000), '(917) 200-0101']]);
    for (let time = 0; time < 2; time++) {
      expect(await resync(integration)).toMatchObject({
        rows_seen: 125,
        failed: 1,
        errors: [{ row: 701, detail: 'invalid_first_name', message: expect.any(String) }],
      });
      expect(await second()).toMatchObject({ first_name: 'Far below', custom_fields: { city: 'Porto' } });
    }
    expect(await members(list)).toHaveLength(120);
  });

  test('are one person by their id, too, and the last phone is the phone', async () => {
    const { connectSheet, setCells, work, contacts, resync } = await syncService();
    await setCells('A1', [
      ['Full Name', 'Mobile No.', 'Customer ID'],
      ['Old', '+19172009001', 'C-1'],
      ['New', '+19172009002', 'C-1'],
      ['', '', 'C-1'],
    ]);
    const id = await connectSheet(list, { phone: 'Mobile No.', first_name: 'Full Name', external_id: 'Customer ID' });
    await work();
    expect((await contacts()).filter(({ external_id }) => external_id === 'C-1')).toMatchObject([
      { phone: '+19172009002', first_name: 'New' },
    ]);
    expect(await resync(id)).toMatchObject({ updated: 0, failed: 0 });
  });

  test('are more than are folded where one number stands in hundreds of rows, and each row too many is named', async () => {
    const { connectSheet, setCells, work, lastSync, contacts } = await syncService();
    await setCells(
      'A122',
      Array.from({ length: 150 }, (_, index) => [`Clerk ${index}`, '+12125550199']),
    );
    const id = await connectSheet(list);
    await work();
    expect(await lastSync(id)).toMatchObject({ status: 'completed', rows_seen: 270, created: 121, failed: 50 });
    expect((await lastSync(id)).errors[0]).toMatchObject({ row: 222, detail: 'duplicate', message: expect.stringContaining('100 rows') });
    expect((await contacts()).find(({ phone }) => phone === '+12125550199')).toMatchObject({ first_name: 'Clerk 99' });
  });
});

describe('rows that are moved while a sheet is read', () => {
  const manyRows = Array.from({ length: 600 }, (_, index) => [`Person ${index}`, `+1646555${1_000 + index}`]);

  /** 720 rows, read into their list, and then read again with `change` between the first page and the second. */
  async function changedBetweenPages(change: (service: SyncService) => Promise<void>) {
    const service = await syncService();
    await service.setCells('A122', manyRows);
    const integration = await service.connectSheet(list);
    await service.work();
    await service.client.post(`/integration/${integration}/resync`);
    let pages = 0;
    const DB = recordedDatabase(env.DB, { statements: [], calls: 0 }, async (statements) => {
      const isPage = statements.some((sql) => /UPDATE integration_sync SET pages/.test(sql) && !/finished_at/.test(sql));
      if (isPage && ++pages === 1) await change(service);
    });
    await service.step({ ...service.bindings, DB });
    await service.work();
    return { ...service, last: await service.lastSync(integration) };
  }

  test('make it begin anew, so that nobody who is there leaves the list', async () => {
    const { last, members, contacts } = await changedBetweenPages((service) => service.deleteRows(3, 1));
    expect(last).toMatchObject({ status: 'completed', rows_seen: 719, unchanged: 719 });
    const [, gone] = await contacts();
    expect(await members(list)).toEqual((await contacts()).map(({ id }) => id).filter((id) => id !== gone.id));
  });

  test('below do not', async () => {
    const { last, members } = await changedBetweenPages((service) => service.deleteRows(700, 2));
    expect(last).toMatchObject({ status: 'completed', rows_seen: 718, unchanged: 718 });
    expect(await members(list)).toHaveLength(718);
  });

  test('with their headers are read below them', async () => {
    const { last, members, contacts } = await changedBetweenPages((service) => service.insertRows(1, 1));
    expect(last).toMatchObject({ status: 'completed', rows_seen: 720, unchanged: 720 });
    expect(await members(list)).toEqual((await contacts()).map((contact) => contact.id));
  });

  test('in their columns are read by their names', async () => {
    const { last, contacts } = await changedBetweenPages((service) =>
      service.setCells('A1', [
        ['Mobile No.', 'Full Name', 'E-mail', 'Company', 'City'],
        ...Array.from({ length: 720 }, (_, index) => [`+1646777${1_000 + index}`, `Swapped ${index}`]),
      ]),
    );
    expect(last).toMatchObject({ status: 'completed', failed: 0 });
    expect(
      (await contacts()).filter(({ phone }) => phone.startsWith('+1646777')).every(({ first_name }) => first_name.startsWith('Swapped')),
    ).toBe(true);
  });
});
