import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { connectIntegration, setAccountStatus, leadsUrl } from '../support/integrations.ts';
import { organizationWithAgent } from '../support/journey-calls.ts';
import { encodeText } from '../support/encode-text.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { rowsWritten, recordedClient } from '../support/recorded-database.ts';
import { newAgent, stateOf, farWindow, uploaded } from './campaign-service.ts';

const preview = (client: Client, source_type: string, source_id: string | number, more: object = {}) =>
  client.post('/campaign/preview', { source_type, source_id: String(source_id), ...more });

const people = `Mobile,First name,Home phone
+1 (212) 345-6001,Ann,
,Bob,2123456002
2123456001,Ann again,
9.18E+11,Cy,
8.1E+11,Di,
,Nobody,
+1 212 345 6003,Barred,
`;

async function listOf(client: Client, contacts: object[]): Promise<number> {
  await client.post('/contacts/bulk-upsert', { list_name: 'People', contacts });
  return (await client.get('/contacts/lists')).body.lists[0].id;
}

describe('the preview of a campaign', () => {
  test.each([
    ['a guess', 'Name;Telefon\nMüller;+4930901820\nSchön;+4930901821\nGröße;+4930901822\n', 'windows-1252', 'windows-1252'],
    ['no guess', 'Name;Telefon\nMüller;+4930901820\n', 'utf-8', null],
    [
      'a guess far behind the header',
      `Name;Telefon\n${'Ann;+4930901820\n'.repeat(18_000)}Größe Müller Schön;+4930901822\n`,
      'windows-1252',
      'windows-1252',
    ],
  ])('of a file shows the encoding that was guessed: %s', async (_kind, text, encoding, guessed) => {
    const { client } = await newOrganization();
    const { status, body } = await preview(client, 'csv', await uploaded(client, encodeText(text, encoding)));
    expect([status, body.guessed_encoding]).toEqual([200, guessed]);
  });

  test.each([
    ['a second number', 'Name,Phone\nAda,+4930901820 / +4930901821\nBob,+4930901822\n', '+4930901820', '+4930901820 / +4930901821'],
    ['words before the number', 'Name,Phone\nAda,n/a / +4930901822\nBob,+4930901823\n', '+4930901822', 'n/a / +4930901822'],
    ['one that cannot be dialled, beside one that can', 'Phone,Home phone\n06 12,+4930901822\n+4930901823,\n', '+4930901822', '06 12'],
  ])('of a file keeps what the phone cell holds besides: %s', async (_kind, text, phone, cell) => {
    const { client } = await newOrganization();
    const { body } = await preview(client, 'csv', await uploaded(client, text));
    expect(body.rows[0]).toMatchObject({ phone, variables: { phone: cell } });
    expect(body.rows[1].variables).not.toHaveProperty('phone');
    expect(body.columns.map(({ name, variable }: any) => [name, variable])).toContainEqual(['Phone', 'phone']);
    expect(body.columns).toHaveLength(2);
  });

  test('of a file shows its columns, its rows as they would be dialled, and what could not be', async () => {
    const { client } = await newOrganization();
    await client.post('/contacts/suppressions', { phone: '+12123456003', reason: 'asked' });
    const known = (await client.post('/contacts', { phone: '+12123456002' })).body;
    const { status, body } = await preview(client, 'csv', await uploaded(client, people));
    expect(status).toBe(200);
    expect(body.columns).toEqual([
      { name: 'Mobile', variable: null, is_phone: true },
      { name: 'First name', variable: 'first_name', is_phone: false },
      { name: 'Home phone', variable: 'home_phone', is_phone: true },
    ]);
    expect(body.phone_column).toEqual({
      name: 'Mobile',
      reason: expect.stringContaining('first among the 2 columns'),
      others: ['Home phone'],
    });
    expect(body).toMatchObject({ total_rows: 7, examined_rows: 7, dialable_rows: 2, duplicate_rows: 1 });
    const counted = body.not_dialable.reduce((sum: number, one: { count: number }) => sum + one.count, 0);
    expect(body.dialable_rows + body.duplicate_rows + counted).toBe(7);
    expect(body.not_dialable[0]).toEqual({
      reason: 'scientific_notation',
      count: 2,
      first_row_number: 4,
      detail: expect.stringContaining('9.18E+11'),
    });
    expect(body.not_dialable.map(({ reason }: { reason: string }) => reason).toSorted()).toEqual([
      'empty',
      'scientific_notation',
      'suppressed',
    ]);
    expect(body.rows).toHaveLength(7);
    expect(body.rows[1]).toEqual({
      row_number: 2,
      phone: '+12123456002',
      phone_column: 'Home phone',
      is_dialable: true,
      reason: null,
      contact_id: known.id,
      variables: { first_name: 'Bob', home_phone: '2123456002' },
    });
    expect(body.rows[2]).toMatchObject({ is_dialable: false, reason: 'duplicate: row 1 has the same number' });
    expect(body.rows[6]).toMatchObject({
      phone: '+12123456003',
      is_dialable: false,
      reason: expect.stringMatching(/^suppressed: .*asked/),
    });
  });

  test('shows the same rows as the campaign that is then created and started', async () => {
    const { client, agentId } = await organizationWithAgent();
    const source_id = await uploaded(client, people);
    const seen = (await preview(client, 'csv', source_id)).body;
    const created = await client.post('/campaign/create', {
      name: 'Spring',
      workflow_id: agentId,
      source_type: 'csv',
      source_id,
      schedule_config: farWindow(),
    });
    expect(created.body.total_rows).toBe(seen.total_rows);
    await client.post(`/campaign/${created.body.id}/start`);
    await stateOf(client, created.body.id, 'running');
    const { runs } = (await client.get(`/campaign/${created.body.id}/runs`)).body;
    expect(seen.rows.map(({ row_number, phone, variables }: any) => ({ row_number, phone, variables }))).toEqual(
      runs.map(({ row_number, phone, variables }: any) => ({ row_number, phone, variables })),
    );
    // A row that waits has a reason of its own.
    const refused = runs.filter(({ state }: any) => state === 'failed' || state === 'skipped');
    expect(seen.rows.filter((row: any) => !row.is_dialable).map(({ reason }: any) => reason)).toEqual(
      refused.map(({ reason }: any) => reason),
    );
  });

  test('goes by source_options, and shows ten rows of many', async () => {
    const { client } = await newOrganization();
    const lines = Array.from({ length: 25 }, (_, index) => `020 7946 ${String(1000 + index).slice(-4)},+1212345${6000 + index}`);
    const source_id = await uploaded(client, `Office,Phone\n${lines.join('\n')}\n`);
    const { body } = await preview(client, 'csv', source_id, { source_options: { phone_column: 'office', default_country: 'gb' } });
    expect(body.phone_column).toEqual({ name: 'Office', reason: 'source_options.phone_column names it', others: [] });
    expect([body.total_rows, body.dialable_rows, body.rows.length, body.rows[0].phone]).toEqual([25, 25, 10, '+442079461000']);
    expect((await preview(client, 'csv', source_id)).body.phone_column).toMatchObject({
      name: 'Phone',
      reason: expect.stringContaining('first among the 2 columns'),
      others: ['Office'],
    });
    const one = await uploaded(client, `Office,Phone\n94107,+12123456001\n`);
    expect((await preview(client, 'csv', one)).body.phone_column).toMatchObject({
      name: 'Phone',
      reason: expect.stringContaining('only column'),
    });
  });

  test('of a contact list shows the variables of its contacts', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const id = await listOf(client, [{ phone, first_name: 'Ada', plan: 'pro' }, { external_id: 'no-phone' }]);
    const { status, body } = await preview(client, 'contact_list', id);
    expect([status, body.total_rows, body.dialable_rows, body.duplicate_rows]).toEqual([200, 2, 1, 0]);
    expect(body.phone_column).toEqual({ name: 'phone', reason: expect.any(String), others: [] });
    expect(body.columns).toContainEqual({ name: 'plan', variable: 'plan', is_phone: false });
    expect(body.not_dialable).toEqual([{ reason: 'no_phone', count: 1, first_row_number: 2, detail: 'the contact has no phone number' }]);
    expect(body.rows[0]).toMatchObject({
      phone,
      is_dialable: true,
      contact_id: expect.any(Number),
      variables: { first_name: 'Ada', plan: 'pro' },
    });
    expect((await preview(client, 'contact_list', (await client.post('/contacts/lists', { name: 'Empty' })).body.id)).body).toMatchObject({
      total_rows: 0,
      examined_rows: 0,
      rows: [],
    });
  });

  test('of a sheet goes by the mapping of its integration, and counts every row', async () => {
    const { client } = await newOrganization();
    const { id } = await connectIntegration(client, 'sheet');
    const found = async (fieldMapping: object) => {
      await env.DB.prepare('UPDATE integration SET provider_data = ?, field_mapping = ? WHERE id = ?')
        .bind(JSON.stringify({ sheet_url: leadsUrl, sheet_name: 'Leads' }), JSON.stringify(fieldMapping), id)
        .run();
      return (await preview(client, 'sheet', id)).body;
    };
    const mapped = await found({ phone: 'Mobile No.' });
    expect(mapped).toMatchObject({ total_rows: 120, examined_rows: 120, dialable_rows: 120, not_dialable: [] });
    expect(mapped.phone_column).toEqual({ name: 'Mobile No.', reason: expect.stringContaining('mapping'), others: [] });
    expect(mapped.columns.map(({ name }: { name: string }) => name)).toEqual(['Full Name', 'Mobile No.', 'E-mail', 'Company', 'City']);
    expect(mapped.rows[0]).toMatchObject({ row_number: 1, phone: '+19172000100', variables: { city: 'Lisbon' } });
    expect((await found({})).phone_column.reason).toContain('only column');
  });

  test('of a large file examines its beginning and counts all of it', async () => {
    const { client } = await newOrganization();
    const rows = Array.from({ length: 21_000 }, (_, index) => `+1212${3_000_000 + index}`);
    const { body } = await preview(client, 'csv', await uploaded(client, `phone\n${rows.join('\n')}\n`));
    expect(body).toMatchObject({ total_rows: 21_000, examined_rows: 20_000, dialable_rows: 20_000 });
  });

  test('refuses as the creation of a campaign does, word for word', async () => {
    const { client, id } = await newOrganization();
    const agent = await newAgent(id);
    const other = await newOrganization();
    const { id: tracker } = await connectIntegration(client, 'tracker');
    const dead = await connectIntegration(client, 'sheet');
    await env.DB.prepare('UPDATE integration SET provider_data = ? WHERE id = ?')
      .bind(JSON.stringify({ sheet_url: leadsUrl, sheet_name: 'Leads' }), dead.id)
      .run();
    await setAccountStatus(dead.integration_id, 'REVOKED');
    // Found dead once, it says so from then on.
    await preview(client, 'sheet', dead.id);
    const good = await uploaded(client, people);
    const wrong: [string, string | number, object, number][] = [
      ['csv', await uploaded(client, ''), {}, 422],
      ['csv', await uploaded(client, 'name\nAnn\n'), {}, 422],
      ['csv', await uploaded(client, `phone,name\n+12123456001,Ann\n${'x'.repeat(2 << 20)}\n`), {}, 422],
      ['csv', good, { source_options: { phone_column: 'Fax' } }, 422],
      ['csv', good, { source_options: { default_country: 'XX' } }, 422],
      ['csv', await uploaded(other.client, people), {}, 404],
      ['csv', 'nonsense', {}, 404],
      ['contact_list', await listOf(other.client, [{ phone: newPhone() }]), {}, 404],
      ['contact_list', 'abc', {}, 404],
      ['contact_list', await listOf(client, [{ phone: newPhone() }]), { source_options: { phone_column: 'Fax' } }, 422],
      ['sheet', 999_999_999, {}, 404],
      ['sheet', tracker, {}, 422],
      ['sheet', dead.id, {}, 422],
      ['fax', good, {}, 422],
    ];
    for (const [source_type, source_id, more, status] of wrong) {
      const seen = await preview(client, source_type, source_id, more);
      const created = await client.post('/campaign/create', {
        name: 'X',
        workflow_id: agent,
        source_type,
        source_id: String(source_id),
        ...more,
      });
      expect([source_type, source_id, seen.status, seen.body]).toEqual([source_type, source_id, status, created.body]);
    }
    expect((await client.post('/campaign/preview', {})).body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toEqual([
      'body.source_type',
      'body.source_id',
    ]);
    expect((await client.get('/campaign/')).body.total).toBe(0);
  });

  test('writes nothing, so a read-only key may use it', async () => {
    const { client, key } = await newOrganization({ scopes: ['read', 'write'] });
    const source_id = await uploaded(client, people);
    const recorded = recordedClient(key);
    expect((await preview(recorded.client, 'csv', source_id)).status).toBe(200);
    expect(rowsWritten(recorded.recording)).toBe(0);
    expect((await client.get('/campaign/')).body.total).toBe(0);
  });
});
