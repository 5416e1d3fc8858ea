import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { RowRecord } from '../../src/campaigns/rpc.ts';
import { newOrganization } from '../support/organization.ts';
import { linesLoggedBy } from '../http/service.ts';
import { readWorkbook } from '../support/read-workbook.ts';
import { draft } from './campaign-service.ts';

afterEach(() => vi.restoreAllMocks());

const row = (row_number: number, variables: RowRecord['variables'] = {}): RowRecord => ({
  id: row_number,
  row_number,
  phone: '+12123456001',
  contact_id: null,
  state: 'pending',
  outcome: null,
  reason: null,
  attempts: 0,
  next_attempt_at: null,
  run_ids: [],
  variables,
});

/** A campaign whose object answers these rows, and fails at its call number `failsAt`. */
async function reportOf(rows: RowRecord[], failsAt = Infinity, query = '') {
  const { client, id, key } = await newOrganization();
  const { id: campaign } = await draft(client, id, 'phone\n+12123456001\n');
  await env.DB.prepare(`UPDATE campaign SET state = 'running' WHERE id = ?`).bind(campaign).run();
  const asked: [after: number, limit: number][] = [];
  const reportRows = async (after: number, limit: number) => {
    if (asked.push([after, limit]) >= failsAt) throw Object.assign(new Error('the object is out of reach'), { code: 'gone' });
    return rows.filter((one) => one.row_number > after).slice(0, limit);
  };
  vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue({ reportRows } as never);
  const response = await exports.default.fetch(
    new Request(`https://service.test/api/v1/campaign/${campaign}/report${query}`, { headers: { 'X-API-Key': key } }),
  );
  return { response, asked };
}

const many = Array.from({ length: 2001 }, (_, index) => row(index + 1));

test('rows are read in pages, each when it is sent', async () => {
  const { response, asked } = await reportOf(many);
  const text = await response.text();
  expect(text.trim().split('\n').length).toBe(2002);
  // Once for the names of the variables, once for the rows.
  const pages = Array.from({ length: 11 }, (_, index) => [index * 200, 200]);
  expect(asked).toEqual([...pages, ...pages]);
});

test('a reader that stops has no more rows read', async () => {
  const { response, asked } = await reportOf(many);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  expect(asked.length).toBeLessThan(11 + 5);
});

test('a variable that only later rows have is a column, too', async () => {
  const { response } = await reportOf([row(1, { name: 'Ada' }), ...many.slice(1), row(3000, { name: 'Bob', timezone: 'Asia/Tokyo' })]);
  const lines = (await response.text()).split('\r\n');
  expect(lines[0]).toMatch(/recording_url,name,timezone$/);
  expect(lines[1]).toMatch(/,Ada,$/);
  expect(lines.at(-2)).toMatch(/,Bob,Asia\/Tokyo$/);
});

test('rows that cannot be reached are an error and no half report; a break on the way breaks the download off', async () => {
  const lines = await linesLoggedBy(async () => {
    expect((await reportOf(many, 1)).response.status).toBe(500);
    const { response } = await reportOf(many, 15);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
  expect(lines.join('\n')).toContain('a report broke off');
});

test('columns that need no names of variables are read in one pass, in the order that was asked for', async () => {
  const { response, asked } = await reportOf(many, Infinity, '?columns=phone,row_number');
  const lines = (await response.text()).split('\r\n');
  expect(lines.slice(0, 2)).toEqual(['phone,row_number', '"\'+12123456001",1']);
  expect(asked).toHaveLength(11);
});

test('a column that the report does not have is refused by name, and a near one is named', async () => {
  const { response } = await reportOf([row(1, { city: 'Rome' })], Infinity, '?columns=phone,citty');
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    detail: [{ loc: ['query', 'columns'], msg: expect.stringMatching(/"citty".*"city"/), type: 'unknown_column' }],
  });
});

test('a format that the report does not have is refused by name', async () => {
  const { response } = await reportOf([], Infinity, '?format=pdf');
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ detail: [{ loc: ['query', 'format'] }] });
});

test('JSON lines have the columns as keys, and values of their own type', async () => {
  const { response } = await reportOf(
    [row(1, { city: 'Rome', seats: 2 })],
    Infinity,
    '?format=jsonl&columns=row_number,city,seats,outcome',
  );
  expect(response.headers.get('Content-Type')).toBe('application/x-ndjson');
  expect(response.headers.get('Content-Disposition')).toMatch(/^attachment; filename="campaign-\d+\.jsonl"$/);
  expect(await response.text()).toBe('{"row_number":1,"city":"Rome","seats":2,"outcome":null}\n');
});

test('a workbook is read back with the same cells; a phone number and a formula are texts', async () => {
  const { response } = await reportOf([row(1, { note: '=1+1' })], Infinity, '?format=xlsx&columns=row_number,phone,note');
  expect(response.headers.get('Content-Disposition')).toMatch(/\.xlsx"$/);
  const sheets = await readWorkbook(new Uint8Array(await response.arrayBuffer()));
  expect(sheets).toEqual([
    {
      name: 'Rows',
      rows: [
        ['row_number', 'phone', 'note'],
        ['1', '+12123456001', '=1+1'],
      ],
    },
  ]);
});

test("another organization's report is not found", async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  const { id: campaign } = await draft(theirs.client, theirs.id, 'phone\n+12123456001\n');
  expect((await mine.client.get(`/campaign/${campaign}/report?format=xlsx`)).status).toBe(404);
  expect((await mine.client.get(`/campaign/${campaign}/runs`)).status).toBe(404);
});
