// @module-tag soak
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatCsvRow } from '../../src/library/text/format-csv.ts';
import { cutBatches } from '../../scripts/import-contacts/batches.ts';
import { workbookOf } from '../support/people-workbook.ts';
import { temporaryDirectory } from './temporary-directory.ts';

interface Upsert {
  list_name: string;
  contacts: Record<string, unknown>[];
}
interface Request {
  body: Upsert;
  idempotencyKey: string;
  apiKey: string;
  bytes: number;
}
type Behaviour = (request: Request, response: ServerResponse, attempt: number) => void;

const fixture = (name: string) => join(import.meta.dirname, '../fixtures/contacts', name);
let directory: string;
const requests: Request[] = [];
let behave: Behaviour;
let baseUrl = '';

const upserted = ({ contacts }: Upsert, more: object = {}) => ({
  created: contacts.length,
  updated: 0,
  failed: 0,
  errors: [],
  list_created: false,
  contacts: [],
  ...more,
});
const answer = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const accept: Behaviour = ({ body }, response) => answer(response, 200, upserted(body));

const server = createServer((incoming: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    if (incoming.url === '/api/v1/organizations/current') {
      answer(response, incoming.headers['x-api-key'] === 'wrong' ? 401 : 200, { default_country: 'DE' });
      return;
    }
    if (incoming.method !== 'POST' || incoming.url !== '/api/v1/contacts/bulk-upsert')
      return void answer(response, 404, { detail: 'not found' });
    const content = Buffer.concat(chunks);
    const request = {
      body: JSON.parse(content.toString()) as Upsert,
      idempotencyKey: String(incoming.headers['idempotency-key']),
      apiKey: String(incoming.headers['x-api-key']),
      bytes: content.length,
    };
    requests.push(request);
    behave(request, response, requests.length);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
});
afterAll(() => server.close());
beforeEach(() => {
  directory = temporaryDirectory();
  requests.length = 0;
  behave = accept;
});

async function run(parameters: string[], environment: Record<string, string> = { BASE_URL: baseUrl, API_KEY: 'key' }) {
  const child = spawn(process.execPath, ['scripts/import-contacts.ts', ...parameters], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, BASE_URL: '', API_KEY: '', STATE_DIR: directory, ...environment },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

const keys = () => new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size;

function write(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const leads = (count: number) =>
  `phone,name\n${Array.from({ length: count }, (_, index) => `+1212345${1000 + index},Lead ${index}\n`).join('')}`;

describe('what is sent', () => {
  test('the people of the file go to the list, and the summary adds up', async () => {
    behave = ({ body }, response) => answer(response, 200, upserted(body, { created: 1, updated: 1, list_created: true }));
    const { code, stdout, stderr } = await run([fixture('crm-export-bom-crlf.csv'), '--list', 'CRM']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ apiKey: 'key', body: { list_name: 'CRM' } });
    expect(requests[0]!.body.contacts[0]).toEqual({
      phone: '+971501234567',
      email: 'clarice@example.org',
      first_name: 'Clarice',
      last_name: 'Uzumaki',
      company: 'Globex',
      custom_fields: { notes: 'VIP, call\nafter 3pm' },
    });
    expect(stdout).toContain('3 rows (utf-8, separated by commas)');
    expect(stdout).toContain('1 created, 1 updated, 0 failed, 1 folded');
    expect(stdout).toContain('The list "CRM" is new.');
  });

  test('a large file goes in batches, each under a key of its own', async () => {
    const { code, stdout } = await run([write('batches.csv', leads(250)), '--list', 'Leads', '--batch', '100']);
    expect(code).toBe(0);
    expect(requests.map(({ body }) => body.contacts.length)).toEqual([100, 100, 50]);
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(stdout).toContain('200 of 250 rows sent');
    expect(stdout).toContain('250 created');
  });

  test('the people of a workbook go to the list as those of a CSV, and every phone column is printed', async () => {
    const rows = [
      ['Unsere Kunden'],
      ['Name', 'Company phone', 'Mobil', 'Telefon geschäftlich'],
      ['Zoë Groß', '+49 30 9000001', 1701234567, ''],
      ['José Núñez', '+49 30 9000001', '', '+34 910 600 001', 'ruft zurück'],
    ];
    const cover = { name: 'Deckblatt', rows: [['Bitte lesen']] };
    const csv = write('people.csv', rows.map((cells) => cells.join(',')).join('\n'));
    const workbook = write('people.xlsx', await workbookOf([cover, { name: 'Kunden', rows }]));
    for (const file of [csv, workbook]) expect((await run([file, '--list', 'A'])).code).toBe(0);
    expect(requests[1]!.body).toEqual(requests[0]!.body);
    expect(requests[1]!.body.contacts).toMatchObject([
      { phone: '+491701234567' },
      { phone: '+34910600001', custom_fields: { column_5: 'ruft zurück' } },
    ]);
    const { stdout } = await run([workbook, '--list', 'A', '--dry-run']);
    expect(stdout).toContain(
      'people.xlsx: 2 rows (sheet "Kunden"). phone from "Mobil", then "Telefon geschäftlich", then "Company phone" (US where it names no country)',
    );
  });

  test('a row whose formula has no result fails with a reason that names the formula', async () => {
    const formula = { formula: '1+1', value: '<v/>' };
    const rows = [
      ['Phone', 'Balance'],
      ['+12123456001', 5],
      ['+12123456002', formula],
    ];
    const { code, stderr } = await run([write('formulas.xlsx', await workbookOf([{ name: 'A', rows }])), '--list', 'A']);
    expect([code, requests[0]!.body.contacts]).toEqual([1, [{ phone: '+12123456001', custom_fields: { balance: '5' } }]]);
    expect(stderr).toContain('Row 3: The formula in B3 has no result in the file; open the workbook in a spreadsheet program');
  });

  test('the sheet of a workbook is the one that --sheet names', async () => {
    const sheets = ['+12123456001', '+12123456002'].map((phone, index) => ({ name: `Sheet ${index + 1}`, rows: [['phone'], [phone]] }));
    const { code } = await run([write('two.xlsx', await workbookOf(sheets)), '--list', 'A', '--sheet', 'sheet 2']);
    expect([code, requests[0]!.body.contacts]).toEqual([0, [{ phone: '+12123456002' }]]);
  });

  test('the phones are those of the column that --phone-column names, and of no other', async () => {
    const file = write('shop.csv', 'Our shops\nShop,Mobile,Name\n+12123456001,+12123456002,Ann\n,+12123456003,Bob\n');
    const { code, stdout } = await run([file, '--list', 'A', '--phone-column', 'shop']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/phone from "Shop" \([A-Z]{2} where it names no country\), name from "Name"/),
    ]);
    expect(requests[0]!.body.contacts).toEqual([{ phone: '+12123456001', first_name: 'Ann', custom_fields: { mobile: '+12123456002' } }]);
    const unknown = await run([file, '--list', 'A', '--phone-column', 'Fax']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('No column for "Fax" was found. The headers are: ') });
  });

  test('a second import of the same file is not taken for a repeated try of the first', async () => {
    const file = write('again.csv', leads(1));
    await run([file, '--list', 'Leads']);
    await run([file, '--list', 'Leads']);
    expect(requests[0]!.idempotencyKey).not.toBe(requests[1]!.idempotencyKey);
  });

  test("numbers without country code are the organization's, or of the country given", async () => {
    const file = write('national.csv', 'phone\n0201 234567\n');
    await run([file, '--list', 'A']);
    await run([file, '--list', 'A', '--default-country', 'nl']);
    expect(requests.map(({ body }) => body.contacts[0]!.phone)).toEqual(['+49201234567', '+31201234567']);
  });

  test('the local service is the default', async () => {
    const state = join(directory, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'credentials.json'), JSON.stringify({ base_url: baseUrl, api_key: 'local', simulators_url: '' }));
    expect((await run([write('local.csv', leads(1)), '--list', 'A'], { STATE_DIR: state })).code).toBe(0);
    expect(requests[0]!.apiKey).toBe('local');
  });

  test('a dry run sends nothing and finds the same faults', async () => {
    const { code, stdout } = await run([fixture('spreadsheet-damage.csv'), '--list', 'A', '--dry-run', '--default-country', 'US']);
    expect(code).toBe(1);
    expect(requests).toHaveLength(0);
    expect(stdout).toContain('4 rows would be sent to the list "A", 5 rows cannot be');
  });

  test('no request is larger than the service takes', () => {
    const people = Array.from({ length: 40 }, (_, index) => ({
      row_number: index + 1,
      file_row: index + 2,
      contact: { external_id: String(index), custom_fields: { notes: 'ü'.repeat(1000) } },
    }));
    const batches = [...cutBatches(people, 'List', 5000, 10_000)];
    expect(Math.max(...batches.map(({ body }) => Buffer.byteLength(body)))).toBeLessThan(10_100);
    expect(batches.flatMap(({ people: batch }) => batch)).toEqual(people);
    expect(batches.flatMap(({ body }) => (JSON.parse(body) as Upsert).contacts)).toEqual(people.map(({ contact }) => contact));
  });
});

describe('rows that fail', () => {
  test('bad phones and rows that the service refuses are written out with their row in the file', async () => {
    behave = ({ body }, response) =>
      answer(
        response,
        200,
        upserted(body, {
          created: 2,
          failed: 1,
          errors: [{ index: 1, phone: '+919876543210', external_id: '123', detail: 'identity_conflict', message: 'contacts 4 and 5' }],
        }),
      );
    const errors = join(directory, 'errors.csv');
    const { code, stdout, stderr } = await run([
      fixture('spreadsheet-damage.csv'),
      '--list',
      'A',
      '--default-country',
      'US',
      '--errors',
      errors,
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('2 created, 0 updated, 6 failed, 1 folded');
    expect(stderr).toContain('Row 2: "9.18E+11" is a number that a spreadsheet has shortened');
    const lines = readFileSync(errors, 'utf8').split('\r\n');
    expect(lines[0]).toBe('\ufeffrow,phone,external_id,reason');
    expect(lines[1]).toMatch(/^2,9\.18E\+11,00123,"""9\.18E\+11"" is a number/);
    expect(lines[2]).toBe(`4,"'+919876543210",123,identity_conflict: contacts 4 and 5`);
    expect(lines.map((line) => line.split(',')[0])).toEqual(['\ufeffrow', '2', '4', '5', '6', '7', '8', '']);
    expect(lines[5]).toMatch(/^7,"'-",126,/);
  });

  test('without --errors they go beside the local state, and a later good run takes them away', async () => {
    const state = join(directory, 'errors-state');
    const environment = { BASE_URL: baseUrl, API_KEY: 'key', STATE_DIR: state };
    const { stderr } = await run([write('bad.csv', 'phone\n123\n'), '--list', 'A'], environment);
    expect(stderr).toContain(`The rows that failed are in ${join(state, 'import-errors.csv')}`);
    expect(readFileSync(join(state, 'import-errors.csv'), 'utf8')).toContain('2,123,,');
    expect(requests).toHaveLength(0);
    await run([write('good.csv', leads(1)), '--list', 'A'], environment);
    expect(() => readFileSync(join(state, 'import-errors.csv'))).toThrow(/ENOENT/);
  });

  test('a cell that a spreadsheet would run as a formula is made harmless', () => {
    expect(formatCsvRow(['=1+1', '+1212', '-1', '@x', '\t=1', 'a,"b"', 'plain', ''])).toBe(
      `"'=1+1","'+1212","'-1","'@x","'\t=1","a,""b""",plain,\r\n`,
    );
  });

  test('a refused batch fails its rows and not the others', async () => {
    behave = (request, response, attempt) =>
      attempt === 1 ? answer(response, 422, { detail: [{ loc: ['body'], msg: 'no', type: 'x' }] }) : accept(request, response, attempt);
    const { code, stdout, stderr } = await run([write('refused.csv', leads(3)), '--list', 'A', '--batch', '2']);
    expect(code).toBe(1);
    expect(stdout).toContain('1 created, 0 updated, 2 failed');
    expect(stderr).toContain('Row 2: the service answered 422: body: no');
  });

  test('when the key is refused in between, nothing more is sent and every row left is reported', async () => {
    behave = (request, response, attempt) =>
      attempt === 1 ? accept(request, response, attempt) : answer(response, 401, { detail: 'revoked' });
    const { code, stdout, stderr } = await run([write('revoked.csv', leads(4)), '--list', 'A', '--batch', '1']);
    expect(code).toBe(1);
    expect(requests).toHaveLength(2);
    expect(stdout).toContain('1 created, 0 updated, 3 failed');
    expect(stderr).toContain('Row 5: not sent, because the service answered 401: revoked');
  });

  test('ids that a spreadsheet damaged are reported', async () => {
    const { stderr } = await run([write('ids.csv', 'phone,id\n+12123456001,7.01E+18\n+12123456002,7.01E+18\n'), '--list', 'A']);
    expect(stderr).toContain('2 ids cannot be told apart and are left out, such as "7.01E+18" in row 2.');
  });
});

describe('a batch is tried again under the same key', () => {
  test('after the pause that a 429 asks for', async () => {
    const times: number[] = [];
    behave = (request, response, attempt) => {
      times.push(Date.now());
      if (attempt === 1) answer(response, 429, { detail: 'slow down' }, { 'retry-after': '2' });
      else accept(request, response, attempt);
    };
    const { code, stdout } = await run([write('limited.csv', leads(1)), '--list', 'A']);
    expect(code).toBe(0);
    expect(stdout).toContain('Trying again in 2.0 s: the service answered 429: slow down');
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1900);
    expect([requests.length, keys()]).toEqual([2, 1]);
  });

  test('after a lost answer', async () => {
    behave = (request, response, attempt) => (attempt === 1 ? response.destroy() : accept(request, response, attempt));
    const { code, stdout } = await run([write('lost.csv', leads(2)), '--list', 'A']);
    expect(code).toBe(0);
    expect(stdout).toContain('2 created');
    expect([requests.length, keys()]).toEqual([2, 1]);
    expect(requests[1]!.body).toEqual(requests[0]!.body);
  });

  test('after a 503, and after the 409 of a request that is still running', async () => {
    behave = (request, response, attempt) => {
      if (attempt < 3) answer(response, attempt === 1 ? 503 : 409, { detail: 'not now' });
      else accept(request, response, attempt);
    };
    expect((await run([write('busy.csv', leads(1)), '--list', 'A'])).code).toBe(0);
    expect([requests.length, keys()]).toEqual([3, 1]);
  });
});

describe('a wrong call or file is exit code 2 and a sentence', () => {
  test.each([
    ['no such file', ['/nowhere/people.csv', '--list', 'A'], '/nowhere/people.csv cannot be read: there is no such file.'],
    ['a folder', ['/', '--list', 'A'], 'it is a folder'],
    ['no list', ['x.csv'], 'Give the list that the contacts go into: --list NAME.'],
    ['no file', ['--list', 'A'], 'Give one file to import, got 0.'],
    ['an unknown option', ['x.csv', '--list', 'A', '--lisst', 'B'], "Unknown option '--lisst'"],
    ['a batch too large', ['x.csv', '--list', 'A', '--batch', '5001'], '--batch is "5001"; give a number from 1 to 5000.'],
    ['an unknown country', ['x.csv', '--list', 'A', '--default-country', 'XX'], '--default-country is "XX"'],
    ['a base URL that is none', ['x.csv', '--list', 'A', '--base-url', 'localhost'], 'The base URL is "localhost"'],
    ['a refused key', [fixture('crm-export-bom-crlf.csv'), '--list', 'A', '--api-key', 'wrong'], 'refuses the API key'],
  ])('%s', async (_, parameters, message) => {
    const { code, stderr } = await run(parameters);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).not.toContain('    at ');
    expect(requests).toHaveLength(0);
  });

  test.each([
    ['an empty file', '', 'The file is empty'],
    ['no column to know people by', 'Name,City\nAnn,Rome\n', 'The headers are: "Name", "City".'],
    [
      'an encoding that cannot be told',
      Uint8Array.from([...Buffer.from('phone,name\n+905321234567,Ay'), 0xfe, 0x65, 10]),
      'name it with --encoding',
    ],
    [
      'a code page of DOS',
      Uint8Array.from([...Buffer.from('phone,name\n+4930901820,G'), 0x81, ...Buffer.from('nther Sch'), 0x94, 110, 10]),
      'name it with --encoding, or save the file in UTF-8',
    ],
    [
      'an old workbook',
      Uint8Array.from([0xd0, 0xcf, 0x11, 0xe0, ...Buffer.from('x'.repeat(600) + 'W\0o\0r\0k\0b\0o\0o\0k')]),
      'old Excel workbook (.xls)',
    ],
    ['a workbook that is cut off', Uint8Array.from([0x50, 0x4b, 3, 4, 1, 2, 3]), 'The file is damaged: it is cut off'],
    ['a line without end', `phone,name\n+12123456001,${'x'.repeat(2 << 20)}\n`, 'Row 2 is longer than 1 MiB'],
  ])('%s', async (name, content, message) => {
    const { code, stderr } = await run([write(`${name}.csv`, content), '--list', 'A']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(requests).toHaveLength(0);
  });

  test('a file that is not in the encoding that is named for it', async () => {
    const file = write(
      'cyrillic.csv',
      Uint8Array.from([0xc8, 0xec, 0xff, 0x2c, 0xd2, 0xe5, 0xeb, 0xe5, 0xf4, 0xee, 0xed, ...Buffer.from('\nA,+12123456001\n')]),
    );
    const { code, stderr } = await run([file, '--list', 'A', '--encoding', 'koi8-r']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('It was read as koi8-r, which --encoding names; leave that out')]);
    expect((await run([file, '--list', 'A', '--dry-run'])).stdout).toContain('phone from "Телефон"');
  });

  test('a workbook without the named sheet, or without people in it', async () => {
    const prices = {
      name: 'Prices',
      rows: [
        ['Item', 'Price'],
        ['Tea', '2'],
      ],
    };
    const people = { name: 'People', rows: [['phone'], ['+12123456001']] };
    const file = write('shop.xlsx', await workbookOf([prices, people]));
    const unknown = await run([file, '--list', 'A', '--sheet', 'Leads']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no sheet "Leads"; its sheets are: "Prices", "People"') });
    const { code, stderr } = await run([file, '--list', 'A']);
    expect(code).toBe(2);
    expect(stderr).toContain('shop.xlsx, sheet "Prices": No column for phone numbers or ids was found. The headers are: "Item", "Price".');
    expect(stderr).toContain('The sheets of the workbook are: "Prices", "People"; --sheet names the one to read');
    const text = await run([write('text.csv', leads(1)), '--list', 'A', '--sheet', 'Leads']);
    expect(text).toMatchObject({ code: 2, stderr: expect.stringContaining('leave --sheet out') });
    expect(requests).toHaveLength(0);
  });

  test('no service to import into', async () => {
    const { code, stderr } = await run([fixture('crm-export-bom-crlf.csv'), '--list', 'A'], { STATE_DIR: join(directory, 'none') });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Run "npm start" first') });
  });

  test('a file with a header alone is no fault', async () => {
    const { code, stdout } = await run([write('header.csv', 'phone,name\n'), '--list', 'A']);
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing to send: 0 created');
  });
});
