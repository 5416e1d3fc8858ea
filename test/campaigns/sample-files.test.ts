import { expect, test } from 'vitest';
import { readFixtureBytes, readTableOf } from '../contacts/import-reading.ts';
import { callingOrganization } from '../support/carrier.ts';
import { draft, farWindow, rowsRead } from './campaign-service.ts';
import { sourceOf } from './source-reading.ts';

/**
 * The numbers that a campaign over the file calls, in their order; a word instead of a number is the reason of a row that is not called.
 */
const samples: [file: string, country: 'US' | 'DE', expected: string[]][] = [
  ['crm-export-bom-crlf.csv', 'US', ['+971501234567', '+12123456001', '+12123456002']],
  ['excel-semicolon-windows-1252.csv', 'DE', ['+4915123456789', '+33142685300', '+4915123456780']],
  ['excel-utf16le-tab.txt', 'US', ['+81312345678', '+12123456003']],
  ['google-contacts.csv', 'US', ['+79001234567', '+8613800138000']],
  ['headers-duplicate-blank-ragged.csv', 'US', ['+12123456007', '+12123456008', '+12123456009']],
  ['shopify-customers.csv', 'US', ['+12123456010', '+12123456011']],
  [
    'spreadsheet-damage.csv',
    'US',
    [
      'scientific_notation',
      '+919876543210',
      'duplicate',
      'all_zeros',
      'not_a_number',
      'not_a_number',
      'phone_extension',
      '+12123456005',
      '+12123456006',
    ],
  ],
];

interface Row {
  row_number: number;
  phone: string;
  state: string;
  reason: string | null;
  variables: Record<string, string>;
}

test.each(samples)('%s as the source of a campaign', async (file, country, expected) => {
  const { client, id, agentId } = await callingOrganization();
  const bytes = await readFixtureBytes(file);
  const more = { workflow_id: agentId, schedule_config: farWindow(), source_options: { default_country: country } };
  const campaign = await draft(client, id, bytes as Uint8Array<ArrayBuffer>, more);
  expect((await client.post(`/campaign/${campaign.id}/start`)).status).toBe(200);
  expect((await rowsRead(client, campaign.id)).total_rows).toBe(expected.length);

  const { runs } = (await client.get(`/campaign/${campaign.id}/runs`)).body as { runs: Row[] };
  const waits = (row: Row) => row.state === 'pending' || row.state === 'scheduled';
  expect(runs.map((row) => (waits(row) ? row.phone : row.reason?.split(':')[0]))).toEqual(expected);
  const read = await sourceOf(bytes, { default_country: country });
  expect(runs.map((row) => [row.row_number, row.phone, row.variables])).toEqual(
    read.rows.map((row) => [row.row_number, row.phone, row.variables]),
  );
  expect(runs.map((row) => (waits(row) ? null : row.reason))).toEqual(read.rows.map((row) => row.reason));

  const report = await readTableOf((await client.get(`/campaign/${campaign.id}/report`)).body);
  const first = report.headers.length - read.variable_names.length;
  expect(report.headers.slice(first)).toEqual(read.variable_names);
  expect(report.rows.map(({ cells }) => cells[1])).toEqual(runs.map((row) => row.phone));
  expect(report.rows.map(({ cells }) => cells.slice(first))).toEqual(
    runs.map((row) => read.variable_names.map((name) => row.variables[name]?.trim() ?? '')),
  );
});
