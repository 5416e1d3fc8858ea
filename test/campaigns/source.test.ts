import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openCsv } from '../../src/campaigns/source/file-source.ts';
import type { TableColumns } from '../../src/campaigns/source/columns.ts';
import { SourceOptions } from '../../src/campaigns/source/options.ts';
import { CompactSeenPhones } from '../../src/campaigns/source/seen-phones.ts';
import { toSourceIssue } from '../../src/campaigns/source/source-issue.ts';
import type { Issue } from '../../src/library/errors.ts';
import { briefly, bytesOfText, inChunks, sourceOf } from './source-reading.ts';

type Inspection = { columns: TableColumns; totalRows: number } | { problem: Issue };

/** The columns and the number of rows of a file, or why it cannot be read. */
async function inspect(file: string | Uint8Array, options: SourceOptions = {}): Promise<Inspection> {
  try {
    const { columns, count } = await openCsv(inChunks(typeof file === 'string' ? bytesOfText(file) : file), options, 'US');
    return { columns, totalRows: await count() };
  } catch (error) {
    return { problem: toSourceIssue(error) };
  }
}
/** The name of the phone column that was found. */
const phoneColumnOf = (inspection: Awaited<ReturnType<typeof inspect>>) =>
  'columns' in inspection ? inspection.columns.headers[inspection.columns.phones[0]] : inspection.problem;

describe('rows', () => {
  test('the same person twice is dialled once, however the number is written', async () => {
    const { rows } = await sourceOf('phone,name\n+1 (212) 345-6001,Ann\n0012123456001,Bob\nwrong,Cy\n+12123456002,Di\n212.345.6001,Ed\n');
    expect(briefly(rows)).toEqual([
      ['+12123456001', 'pending', null],
      ['+12123456001', 'skipped', 'duplicate'],
      ['wrong', 'failed', 'not_a_number'],
      ['+12123456002', 'pending', null],
      ['+12123456001', 'skipped', 'duplicate'],
    ]);
    expect(rows[4]?.reason).toBe('duplicate: row 1 has the same number');
  });

  test('none is dropped or invented, in batches of any size, and each number that can be called is called exactly once', async () => {
    const cell = fc.oneof(
      fc.integer({ min: 6001, max: 6012 }).map((end) => `212345${end}`),
      fc.constantFrom('', 'N/A', '9.18E+11', '123', '+12123456001 ext. 4'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 9 }), async (cells, batchRows) => {
        const { rows } = await sourceOf(`phone,n\n${cells.map((phone, index) => `${phone},${index}\n`).join('')}`, {}, 'US', batchRows);
        expect(rows.map((row) => [row.row_number, row.variables['n']])).toEqual(cells.map((_, index) => [index + 1, String(index)]));
        const good = cells.filter((phone) => /^212345\d{4}$/.test(phone)).map((phone) => `+1${phone}`);
        expect(rows.filter((row) => row.state === 'pending').map((row) => row.phone)).toEqual([...new Set(good)]);
        expect(rows.filter((row) => row.state === 'failed')).toHaveLength(cells.length - good.length);
        expect(rows.every((row) => (row.state === 'pending') === (row.reason === null))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('a row without a phone has failed with a reason', async () => {
    const { rows } = await sourceOf('phone,name\n,Ann\n');
    expect(rows).toEqual([
      { row_number: 1, phone: '', state: 'failed', reason: 'empty: the row has no phone number', variables: { name: 'Ann' } },
    ]);
  });

  test('a row with more text than a call can carry has failed, and leaves its number to a later one', async () => {
    const { rows } = await sourceOf(`phone,note\n+12123456001,${'x'.repeat(65_537)}\n+12123456001,short\n`);
    expect(briefly(rows)).toEqual([
      ['+12123456001', 'failed', 'row_too_large'],
      ['+12123456001', 'pending', null],
    ]);
    expect(rows[0]?.variables).toEqual({});
  });

  test('read once more after an interruption, a source finds its own rows', async () => {
    const file = bytesOfText('phone\n+12123456001\n+12123456002\n+12123456001\n');
    const seen = new CompactSeenPhones();
    const read = async () => {
      const source = await openCsv(inChunks(file), {}, 'US');
      const states = [];
      for await (const batch of source.batches(seen, 1)) states.push(...batch.map((row) => row.state));
      return states;
    };
    expect(await read()).toEqual(['pending', 'pending', 'skipped']);
    expect(await read()).toEqual(['pending', 'pending', 'skipped']);
  });
});

describe('columns', () => {
  test('are named as templates can write them, each once', async () => {
    const { variable_names } = await sourceOf(
      'First Name,first_name,phone,birthDate,Straße & Nr.,город,,E-mail,FIRST NAME\na,b,+12123456001\n',
    );
    expect(variable_names).toEqual([
      'first_name',
      'first_name_2',
      'birth_date',
      'strasse_nr',
      'город',
      'column_7',
      'e_mail',
      'first_name_2_2',
    ]);
  });

  test('the empty columns that spreadsheets leave behind are no variables', async () => {
    const { rows } = await sourceOf('phone,name,,,\n+12123456001,Ann,,,\n+12123456002,Bob,,,x\n');
    expect(rows.map((row) => row.variables)).toEqual([{ name: 'Ann' }, { name: 'Bob', column_5: 'x' }]);
  });

  test('the phone column can be named, by any spelling, and is then the only one', async () => {
    const file = 'Phone,Mobile Phone,Name\n+12123456001,+12123456002,Ann\n+12123456003,,Bob\n';
    for (const phone_column of ['Mobile Phone', 'mobile_phone', 'MOBILE-PHONE']) {
      const { phone_column: found, rows } = await sourceOf(file, { phone_column });
      expect(found).toBe('Mobile Phone');
      expect(briefly(rows)).toEqual([
        ['+12123456002', 'pending', null],
        ['', 'failed', 'empty'],
      ]);
      expect(rows[1]?.variables).toEqual({ phone: '+12123456003', name: 'Bob' });
    }
    const named = await sourceOf('Wen,Wo\n+12123456001,Rom\n', { phone_column: 'wen' });
    expect(briefly(named.rows)).toEqual([['+12123456001', 'pending', null]]);
  });

  test('a column that is named and does not exist is an error with the headers, also below a title', async () => {
    for (const file of [
      'Contacts 2026\n\nName,Phone,Due\nAda,+12123456001,x\n',
      'Contacts\nName,Phone,Due\nAda,+12123456001,x\nEnd of list\n',
    ])
      await expect(sourceOf(file, { phone_column: 'Handy' })).rejects.toThrow(/"Name", "Phone", "Due"/);
    const { rows } = await sourceOf('Phone list\nName,Wo,Phone\nAda,+12123456001,+12123456002\n', { phone_column: 'Wo' });
    expect(briefly(rows)).toEqual([['+12123456001', 'pending', null]]);
  });

  test('default_country goes before the organization', async () => {
    const { rows } = await sourceOf('phone\n030 901820\n', { default_country: 'DE' }, 'US');
    expect(briefly(rows)).toEqual([['+4930901820', 'pending', null]]);
  });

  test('invalid options are refused by name', () => {
    const problems = (value: unknown) => SourceOptions.safeParse(value).error?.issues.map(({ path, code }) => `${path.join('.')} ${code}`);
    expect(problems({ phone_column: ' ', default_country: 'Germany', colum: 1 })).toEqual([
      'phone_column too_small',
      'default_country custom',
    ]);
    expect(SourceOptions.parse({ default_country: 'de', phone_column: null })).toEqual({ default_country: 'DE', phone_column: null });
  });
});

describe('before a campaign is created', () => {
  test('a good source tells its columns and how many rows it has', async () => {
    const inspection = await inspect('name;Phone\nAnn;+12123456001\n\nBob;nobody\n');
    expect([phoneColumnOf(inspection), 'totalRows' in inspection && inspection.totalRows]).toEqual(['Phone', 2]);
  });

  test.each([
    ['no phone column', 'name,city\nAda,Paris\n', /^No column for phone numbers was found\. The headers are: "name", "city"\. Name one/],
    ['a file without header', '+12123456001,Ann\n+12123456002,Bob\n', /"\+12123456001", "Ann"\. The first row seems to be a person/],
    ['a web page named as a table', '<html><table>\n<tr><td>phone</td></tr>\n</table>', /web page or XML.*save it as \.xlsx or \.csv/],
    ['a web page in one line', '<html><table><tr><td>Phone</td></tr><tr><td>+12123456001</td></tr></table></html>', /web page or XML/],
    ['an empty file', '', /^The file is empty: it has no bytes; .*choose another one$/],
    ['a blank file', ' \r\n \n', /^The file is empty: it has no header row; add one/],
    ['a header alone', 'phone,name\n', /^The file has a header row and no rows below it/],
    ['an Excel workbook', 'PK\u0003\u0004...', /Excel workbook.*save the sheet as CSV/],
    ['bytes that are no text', 'phone\n\0\0\0\u0001\n', /not text/],
  ])('%s is a problem that names what was found', async (_, file, message) => {
    expect(await inspect(file)).toEqual({
      problem: { loc: ['body', 'source_id'], msg: expect.stringMatching(message), type: 'unreadable_source' },
    });
  });

  test('a named column that is not there is a problem of the option', async () => {
    expect(await inspect('phone,name\n+12123456001,Ann\n', { phone_column: 'Mobile' })).toEqual({
      problem: {
        loc: ['body', 'source_options', 'phone_column'],
        msg: 'No column for "Mobile" was found. The headers are: "phone", "name". Name one of them "Mobile"',
        type: 'unknown_column',
      },
    });
  });

  test('hundreds of headers are not recited', async () => {
    const { problem } = (await inspect(`${Array.from({ length: 500 }, (_, index) => `field ${index}`).join(',')}\n1\n`)) as {
      problem: { msg: string };
    };
    expect(problem.msg).toContain('"field 29" and 470 more. ');
  });
});

describe('a source without end', () => {
  /** An endless stream that counts the bytes read and records its release. */
  function endless() {
    const taken = { bytes: 0, isOver: false };
    async function* bytes() {
      try {
        yield bytesOfText('phone,name,note\n');
        for (let first = 0; ; first += 1000) {
          const lines = Array.from(
            { length: 1000 },
            (_, index) => `+1212${3_000_000 + first + index},Ann ${first + index},${'x'.repeat(60)}\n`,
          );
          const chunk = bytesOfText(lines.join(''));
          taken.bytes += chunk.length;
          yield chunk;
        }
      } finally {
        taken.isOver = true;
      }
    }
    return { taken, bytes };
  }

  test('is read no further than what is asked for, and let go of', async () => {
    const { taken, bytes } = endless();
    const source = await openCsv(bytes(), {}, 'US');
    let rows = 0;
    for await (const batch of source.batches()) {
      rows += batch.length;
      expect(taken.bytes - rows * 85).toBeLessThan(6 << 20);
      if (rows >= 100_000) break;
    }
    expect(rows).toBe(100_000);
    expect(taken.isOver).toBe(true);
  });
});

test('many numbers are remembered, each with the row that had it first, also the longest', () => {
  const memory = new CompactSeenPhones();
  const phoneOf = (index: number) => (index % 1000 === 0 ? `+49${10n ** 14n + BigInt(index)}` : `+${12_120_000_000 + index * 7}`);
  const count = 50_000;
  for (let index = 0; index < count; index += 1) expect(memory.claim(phoneOf(index), index + 1)).toBeUndefined();
  for (let index = 0; index < count; index += 1) expect(memory.claim(phoneOf(index), count + index)).toBe(index + 1);
});
