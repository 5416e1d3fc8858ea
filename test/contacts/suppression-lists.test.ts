import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Client, newOrganization, newPhone } from '../support/organization.ts';

const path = '/contacts/suppressions';
const importPath = `${path}/import`;

describe('an import of suppressions', () => {
  test('takes every number of a row, with its own reason and end, and is the same when it is repeated', async () => {
    const { client } = await newOrganization();
    const csv = [
      'Name,Mobile,Office phone,Reason,Until',
      'Ada,(212) 555-0101,(212) 555-0102,by letter,',
      'Bob,+44 20 7946 0958,,,2099-01-01',
      'Cyd,(212) 555-0101,,,2099-01-01',
    ].join('\n');
    expect(await client.post(importPath, { csv, reason: 'list of 2026' })).toMatchObject({
      status: 200,
      body: { rows: 3, added: 3, already_suppressed: 0, failed: 0, errors: [], phone_columns: ['Mobile', 'Office phone'] },
    });
    const { suppressions } = (await client.get(path)).body;
    expect(suppressions.map((one: any) => [one.phone, one.reason, one.until, one.source]).toSorted()).toEqual([
      ['+12125550101', 'by letter', null, 'import'],
      ['+12125550102', 'by letter', null, 'import'],
      ['+442079460958', 'list of 2026', '2099-01-01T00:00:00.000Z', 'import'],
    ]);
    expect((await client.post(importPath, { csv, reason: 'list of 2026' })).body).toMatchObject({ added: 0, already_suppressed: 3 });
    expect((await client.get(path)).body.suppressions).toEqual(suppressions);
  });

  test('takes a list without headers, one number a line', async () => {
    const { client } = await newOrganization();
    const { status, body } = await client.post(importPath, { csv: '+12125550103\n+12125550104\r\n\n2125550105\n' });
    expect({ status, body }).toMatchObject({ status: 200, body: { rows: 3, added: 3, phone_columns: [] } });
    expect((await client.get(path)).body.total).toBe(3);
  });

  test('names the rows that it leaves out, and takes the others', async () => {
    const { client } = await newOrganization();
    const csv = 'phone;until\nN/A;\n+12125550106;\n+12125550107;2020-01-01\n+12125550108;soon\n;\n12345;\n';
    const { body } = await client.post(importPath, { csv });
    expect(body).toMatchObject({ added: 1, failed: 4 });
    expect(body.errors.map((one: any) => [one.row, one.value])).toEqual([
      [2, 'N/A'],
      [4, '2020-01-01'],
      [5, 'soon'],
      [7, '12345'],
    ]);
    for (const { detail } of body.errors) expect(detail).toMatch(/\w{3,} \w/);
  });

  test.each([
    ['a slash', 'Phone\n+14155550912 / +14155550913'],
    ['a line break', 'Phone\n"+14155550912\n+14155550913"'],
    ['semicolons and blanks', 'Phone\n"+14155550912 ;  +14155550913;"'],
    ['a plus', 'Phone\n+14155550912 +14155550913'],
    ['a slash, in a list without headers', '+14155550912 / +14155550913'],
    ['a column that the first row leaves empty', '+14155550912,\n,+14155550913'],
    ['blanks, far into the cell', `Phone\n+14155550912;${' '.repeat(1200)}+14155550913`],
  ])('takes every number of a cell: %s', async (_kind, csv) => {
    const { client } = await newOrganization();
    expect((await client.post(importPath, { csv })).body).toMatchObject({ added: 2, failed: 0, errors: [] });
    const { suppressions } = (await client.get(path)).body;
    expect(suppressions.map((one: any) => one.phone).toSorted()).toEqual(['+14155550912', '+14155550913']);
  });

  test('names each number that cannot be read, also beside one that can', async () => {
    const { client } = await newOrganization();
    const csv = 'Name,Mobile,Home Phone\nAda,06 12 34 56 78,+14155550916\nBob,+14155550917 / 12345,\nCyd,+14155550918 ; n/a,\n';
    const { body } = await client.post(importPath, { csv });
    expect(body).toMatchObject({ rows: 3, added: 3, failed: 3 });
    expect(body.errors.map((one: any) => [one.row, one.value])).toEqual([
      [2, '06 12 34 56 78'],
      [3, '+14155550917 / 12345'],
      [4, '+14155550918 ; n/a'],
    ]);
    expect(body.errors[1].detail).toContain('12345');
  });

  test('of a number between area code and number, as Germans write it, takes one', async () => {
    const { client } = await newOrganization();
    expect((await client.post(importPath, { csv: 'Telefon\n+49 30/901820\n' })).body).toMatchObject({ added: 1, failed: 0 });
  });

  test.each([
    ['no text', {}, 'csv'],
    ['an empty text', { csv: ' \n' }, 'csv'],
    ['no column with numbers', { csv: 'name,city\nAda,Paris\n' }, 'csv'],
    ['more rows than a request may have', { csv: `phone\n${'+12125550109\n'.repeat(10_001)}` }, 'csv'],
    ['an end in the past', { csv: '+12125550109', until: '2020-01-01' }, 'until'],
    ['an empty reason', { csv: '+12125550109', reason: '' }, 'reason'],
  ])('%s is a 422 that names the field, and suppresses nothing', async (_kind, body, field) => {
    const { client } = await newOrganization();
    expect(await client.post(importPath, body)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('of as many rows as a request may have comes in with few calls', async () => {
    const { client } = await newOrganization();
    const csv = `phone\n${Array.from({ length: 10_000 }, (_, index) => `+1212${4_000_000 + index}`).join('\n')}`;
    expect((await client.post(importPath, { csv })).body).toMatchObject({ rows: 10_000, added: 10_000 });
    expect((await client.get(`${path}?limit=1`)).body.total).toBe(10_000);
  });

  test('takes no evidence away, and shortens nothing', async () => {
    const { client } = await newOrganization();
    const phone = newPhone();
    const { body: forGood } = await client.post(path, { phone, reason: 'asked' });
    await client.post(importPath, { csv: phone, until: '2099-01-01' });
    expect((await client.get(path)).body.suppressions).toEqual([forGood]);
  });

  test('needs a key with the scope write', async () => {
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    expect((await reader.post(importPath, { csv: '+12125550110' })).status).toBe(403);
    expect((await new Client(undefined).post(importPath, { csv: '+12125550110' })).status).toBe(401);
  });
});

describe('an export of suppressions', () => {
  test('is CSV that a spreadsheet opens safely, oldest first, of the own organization and of those in force', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    await other.post(path, { phone: newPhone() });
    const { body: first } = await client.post(path, { phone: '+12125550120', reason: '=1+1' });
    const { body: ended } = await client.post(path, { phone: '+12125550121' });
    await client.post(`${path}/${ended.id}/restore`, { reason: 'asked' });
    const answer = await client.get(`${path}/export`);
    expect(answer.status).toBe(200);
    const lines = String(answer.body).split('\r\n');
    expect(lines[0]).toBe('id,phone,reason,source,evidence,call_run_id,created_by,until,created_at,restored_at,restored_by,restore_reason');
    expect(lines[1]).toContain(`${first.id},"'+12125550120","'=1+1",manual,,,`);
    expect(lines).toHaveLength(3);
    expect(String((await client.get(`${path}/export?include_expired=true`)).body)).toContain('+12125550121');
  });

  test('is JSON lines with the records of the list', async () => {
    const { client } = await newOrganization();
    for (const phone of [newPhone(), newPhone()]) await client.post(path, { phone });
    const { body } = await client.get(`${path}/export?format=jsonl`);
    const lines = String(body).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual((await client.get(path)).body.suppressions.toReversed());
  });

  test('is imported again to the same numbers, ends and reasons', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const reason = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((text) => text.trim().length > 0 && !/[\p{C}\p{Z}]/u.test(text));
    const rows = fc.array(fc.record({ reason, isForGood: fc.boolean() }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, async (suppressions) => {
        const phones = new Set<string>();
        for (const { reason: why, isForGood } of suppressions) {
          const phone = newPhone();
          phones.add(phone);
          await client.post(path, { phone, reason: why, ...(!isForGood && { until: '2099-01-01' }) });
        }
        await other.post(importPath, { csv: String((await client.get(`${path}/export`)).body) });
        const shown = async (from: Client) =>
          (await from.get(`${path}?limit=500`)).body.suppressions
            .filter((one: any) => phones.has(one.phone))
            .map((one: any) => [one.phone, one.until])
            .toSorted();
        expect(await shown(other)).toEqual(await shown(client));
      }),
      { numRuns: 10 },
    );
  });

  test('of many is read in pages', async () => {
    const { client } = await newOrganization();
    await client.post(importPath, { csv: Array.from({ length: 2500 }, (_, index) => `+1212${5_000_000 + index}`).join('\n') });
    const lines = String((await client.get(`${path}/export`)).body)
      .trimEnd()
      .split('\r\n');
    expect(lines).toHaveLength(2501);
    expect(new Set(lines).size).toBe(2501);
  });

  test('says which formats there are, and needs a key', async () => {
    const { client } = await newOrganization();
    expect(await client.get(`${path}/export?format=pdf`)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'format'] }] } });
    expect((await new Client(undefined).get(`${path}/export`)).status).toBe(401);
  });
});
