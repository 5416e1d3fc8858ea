import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { Context } from '../../src/context.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import type { CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import { toContactVariables } from '../../src/campaigns/source/contact-list-source.ts';
import { openCampaignSource } from '../../src/campaigns/source/open-source.ts';
import type { RedialRow } from '../../src/campaigns/rpc.ts';
import { newOrganization, newPhone, type Client, type NewOrganization } from '../support/organization.ts';
import { explainQueryPlans, recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { uploaded } from './campaign-service.ts';

const defer = (work: Promise<unknown>) => createExecutionContext().waitUntil(work);

async function newContext(options: NewOrganization = {}): Promise<{ client: Client; context: Context }> {
  const { client, id } = await newOrganization(options);
  return { client, context: (await backgroundContext(env, id, defer))! };
}

type Source = Parameters<typeof openCampaignSource>[1];
const csv = (source_id: string, source_options = {}): Source => ({ source_type: 'csv', source_id, source_options });
const list = (id: number): Source => ({ source_type: 'contact_list', source_id: String(id), source_options: {} });
const redial = (campaign_id: number): Source => ({ ...csv('x'), source_options: { redial: { campaign_id, outcomes: ['busy'] } } });

type After = Pick<CampaignSourceRow, 'row_number' | 'contact_id'>;

async function rowsOf(context: Context, source: Source, after: After | null = null, seen = new CompactSeenPhones()) {
  const opened = await openCampaignSource(context, source);
  const rows: CampaignSourceRow[] = [];
  for await (const batch of opened.batches(seen, after)) rows.push(...batch);
  return rows;
}

async function listOf(client: Client, contacts: object[]): Promise<{ id: number; contactIds: number[] }> {
  const { body } = await client.post('/contacts/bulk-upsert', { list_name: 'Everybody', contacts });
  const { lists } = (await client.get('/contacts/lists?search=Everybody')).body;
  return { id: lists[0].id, contactIds: body.contacts.map((contact: { id: number }) => contact.id) };
}

test('rows of a file carry the contact that has their number, and its zone unless the file names one', async () => {
  const { client, context } = await newContext();
  const [known, zoned, both] = [newPhone(), newPhone(), newPhone()];
  const { contactIds } = await listOf(client, [
    { phone: known },
    { phone: zoned, custom_fields: { timezone: 'Asia/Tokyo' } },
    { phone: both, custom_fields: { timezone: 'Asia/Tokyo' } },
  ]);
  const unknown = newPhone();
  const file = `phone,time zone\n${known},\n${zoned},\n${both},Europe/Oslo\n${unknown},\n${known},\n12,\n`;
  const rows = await rowsOf(context, csv(await uploaded(client, file)));
  expect(rows.map((row) => [row.row_number, row.phone, row.contact_id, row.state, row.variables])).toEqual([
    [1, known, contactIds[0], 'pending', { time_zone: '' }],
    [2, zoned, contactIds[1], 'pending', { time_zone: '', timezone: 'Asia/Tokyo' }],
    [3, both, contactIds[2], 'pending', { time_zone: 'Europe/Oslo' }],
    [4, unknown, null, 'pending', { time_zone: '' }],
    [5, known, contactIds[0], 'skipped', { time_zone: '' }],
    [6, '12', null, 'failed', { time_zone: '' }],
  ]);
});

test('contacts of another organization are not found', async () => {
  const { client, context } = await newContext();
  const other = await newContext();
  const phone = newPhone();
  await other.client.post('/contacts', { phone });
  expect(await rowsOf(context, csv(await uploaded(client, `phone\n${phone}\n`)))).toMatchObject([{ phone, contact_id: null }]);
});

test('members of a list are called in the order of their ids, with their fields as variables', async () => {
  const { client, context } = await newContext();
  const [first, second] = [newPhone(), newPhone()];
  const { id, contactIds } = await listOf(client, [
    {
      phone: first,
      first_name: 'Ada',
      company: 'Engines',
      custom_fields: { 'Favourite Tea': 'mint', first_name: 'other', score: 7, address: { city: 'Rome' } },
    },
    { external_id: 'x-1', email: 'b@example.com' },
    { phone: second },
  ]);
  const nobody = { first_name: '', last_name: '', email: '', company: '', title: '', external_id: '' };
  expect(await rowsOf(context, list(id))).toEqual([
    {
      row_number: 1,
      phone: first,
      contact_id: contactIds[0],
      state: 'pending',
      reason: null,
      variables: { ...nobody, first_name: 'Ada', company: 'Engines', favourite_tea: 'mint', score: 7, address: { city: 'Rome' } },
    },
    {
      row_number: 2,
      phone: '',
      contact_id: contactIds[1],
      state: 'failed',
      reason: 'no_phone: the contact has no phone number',
      variables: { ...nobody, external_id: 'x-1', email: 'b@example.com' },
    },
    { row_number: 3, phone: second, contact_id: contactIds[2], state: 'pending', reason: null, variables: nobody },
  ]);
});

test('two custom fields of one name, and one named like a field of every contact, leave the first as it was', () => {
  const contact = { first_name: 'Ada', last_name: null, email: null, company: null, title: null, external_id: null };
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (custom_fields) => {
      const variables = toContactVariables({
        ...contact,
        custom_fields: { 'First Name': 'Bob', tier: 'gold', Tier: 'tin', ...custom_fields },
      });
      expect(variables).toMatchObject({ first_name: 'Ada', last_name: '' });
      if (!('tier' in custom_fields)) expect(variables['tier']).toBe('gold');
    }),
  );
});

test('a list of any length is read in pages, every statement along an index and bound to the list', async () => {
  const { client, context } = await newContext();
  const contacts = Array.from({ length: 1001 }, () => ({ phone: newPhone() }));
  const { id, contactIds } = await listOf(client, contacts);
  const recording: Recording = { statements: [], calls: 0 };
  const { DB: real } = env;
  const recorded = { ...env, DB: recordedDatabase(real, recording) } as Env;
  const rows = await rowsOf((await backgroundContext(recorded, context.organization.id, defer))!, list(id));
  expect(rows.map((row) => row.contact_id)).toEqual(contactIds.toSorted((a, b) => a - b));
  expect(rows.map((row) => row.row_number)).toEqual(rows.map((_, index) => index + 1));
  const pages = recording.statements.filter(({ sql }) => sql.includes('contact_list_member'));
  expect(pages.length).toBe(4);
  for (const { rowsRead } of pages) expect(rowsRead).toBeLessThan(1100);
  for (const { sql, plan } of await explainQueryPlans(recording))
    expect([sql, plan.filter((step) => step.startsWith('SCAN c'))]).toEqual([sql, []]);
});

test('reading goes on where it was interrupted, though a member has left the list in between', async () => {
  const { client, context } = await newContext();
  const { id, contactIds } = await listOf(
    client,
    Array.from({ length: 4 }, () => ({ phone: newPhone() })),
  );
  const before = await rowsOf(context, list(id));
  await client.delete(`/contacts/lists/${id}/contacts/${contactIds[0]}`);
  expect(await rowsOf(context, list(id), before[1])).toEqual(before.slice(2));
});

test('a file that is read once more gives the same rows, from any row on', async () => {
  const { client, context } = await newContext();
  const phones = Array.from({ length: 6 }, () => newPhone());
  const cells = [phones[0], phones[1], phones[0], 'x', phones[2], phones[1]];
  const source = csv(await uploaded(client, `phone,n\n${cells.map((cell, index) => `${cell},${index}\n`).join('')}`));
  const seen = new CompactSeenPhones();
  const all = await rowsOf(context, source, null, seen);
  for (const after of [null, ...all]) {
    const rest = all.slice(after?.row_number ?? 0);
    expect(await rowsOf(context, source, after)).toEqual(rest);
    expect(await rowsOf(context, source, after, seen)).toEqual(rest);
  }
});

test('a source that is gone is named in a sentence', async () => {
  const { client, context } = await newContext();
  const sourceId = await uploaded(client, 'phone\n+12123456001\n');
  await env.FILES.delete(`campaign_sources/${context.organization.id}/${sourceId}`);
  const { id } = await listOf(client, [{ phone: newPhone() }]);
  await client.delete(`/contacts/lists/${id}`);
  const gone = vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({ redialRows: async () => null } as never);
  for (const [source, said] of [
    [csv(sourceId), 'no longer in storage; upload it again'],
    [list(id), 'contact list was deleted'],
    [redial(7), 'Campaign 7'],
    [{ ...csv('1'), source_type: 'sheet' }, 'integration'],
  ] as [Source, string][])
    await expect(rowsOf(context, source)).rejects.toMatchObject({ name: 'UnreadableFile', message: expect.stringContaining(said) });
  gone.mockRestore();
});

test('rows of another campaign keep their numbers, and are read in pages', async () => {
  const { context } = await newContext();
  const old: RedialRow[] = Array.from({ length: 700 }, (_, index) => ({
    row_number: index * 3 + 2,
    phone: newPhone(),
    contact_id: index,
    variables: { n: String(index) },
  }));
  const redialRows = vi.fn(async (_outcomes: string[], after: number, limit: number) =>
    old.filter((row) => row.row_number > after).slice(0, limit),
  );
  const objects = vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({ redialRows } as never);
  const rows = await rowsOf(context, redial(7));
  expect(rows).toEqual(old.map((row) => ({ ...row, state: 'pending', reason: null })));
  expect(await rowsOf(context, redial(7), rows[599])).toEqual(rows.slice(600));
  expect(objects.mock.calls[0]).toEqual([`${context.organization.id}/7`]);
  expect(redialRows.mock.calls[0]![0]).toEqual(['busy']);
  objects.mockRestore();
});
