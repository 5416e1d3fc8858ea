import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { RowRecord } from '../../src/campaigns/rpc.ts';
import { newOrganization } from '../support/organization.ts';
import { linesLoggedBy } from '../http/service.ts';
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
async function reportOf(rows: RowRecord[], failsAt = Infinity) {
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
    new Request(`https://service.test/api/v1/campaign/${campaign}/report`, { headers: { 'X-API-Key': key } }),
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
  expect(lines[0]).toMatch(/run_ids,name,timezone$/);
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
