/// <reference types="vite/client" />
import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { sourceOf } from '../../campaigns/source-reading.ts';
import { readContactsOf } from '../../contacts/import-reading.ts';
import { outlineOf } from '../document-support.ts';

const urls = import.meta.glob<string>(['../../fixtures/{cases,tables,encodings}/*', '../../fixtures/documents/table-*.pdf'], {
  query: '?url&inline',
  import: 'default',
  eager: true,
});
const files = new Map(Object.entries(urls).map(([path, url]) => [path.split('/').at(-1)!, url]));
const bytesOf = async (name: string): Promise<Uint8Array> => new Uint8Array(await (await fetch(files.get(name)!)).arrayBuffer());
const textOf = async (name: string): Promise<string> => new TextDecoder().decode(await bytesOf(name));

/** Small files that were read wrongly once, each of a kind, and the right reading. */
const readings: Record<string, string[]> = {
  'table-wider-than-its-first-row.csv': [
    'p Hotel Alpha price list',
    '| Item | Price | Note',
    '| Tea | 2.50 | only on Mondays',
    '| Coffee | 3.00 | free refill',
  ],
  'row-wider-than-its-header.csv': ['| Item | Price', '| Tea | 2.50 | only on Mondays'],
  'misplaced-quote.csv': ['| phone | first_name | note', '| +14155551003 | Ann | 5" pipe', '| +14155551004 | Bob | fine'],
  'backslash-quotes.csv': ['| phone | first_name | note', '| +14155551005 | Ann | Said "hi" to me', '| +14155551006 | Bob | fine'],
  'french-national-numbers.csv': ['| Nom | Téléphone', '| Durand | 0612345678', '| Martin | 06 12 34 56 79'],
  'form-question-headers.csv': ['| What is your phone number? | Your name', '| +14155551007 | Ann'],
  'long-numbers.xlsx': ['h1 Hotlines', '| What | Number', '| Hotline Germany | 491761234567', '| EAN of the kettle | 4006381333931'],
  'formula-in-a-sentence.docx': ['p The price is 12+a=c per unit.'],
  'returns-policy.big5.txt': ['p 退貨政策：四十五天內退貨'],
  'returns-policy.koi8-r.txt': ['p Политика возврата: сорок пять дней'],
  'returns-policy.tis-620.txt': ['p นโยบายการคืนสินค้า 45 วัน'],
  'returns-policy.windows-1253.txt': ['p Πολιτική επιστροφών: 45 ημέρες'],
  'returns-policy.windows-1254.txt': ['p İade politikası: kırk beş gün içinde ücretsiz değişim yapılır'],
  'returns-policy.windows-1255.txt': ['p מדיניות החזרות: 45 ימים'],
  'returns-policy.windows-1256.txt': ['p سياسة الإرجاع: خلال خمسة واربعين يوما'],
};

test.each(Object.entries(readings))('%s is read right as a document, and a guess of its encoding is named', async (name, expected) => {
  const { warnings, ...document } = await parseDocument(await bytesOf(name), name);
  expect(outlineOf(document)).toEqual(expected);
  expect(warnings.map(({ code }) => code)).toEqual(name.startsWith('returns-policy') ? ['encoding_guessed'] : []);
});

const amounts = [
  '| Name | Title | Amount',
  '| Anna Schmidt | District director | 37,499.96',
  '| Bob Miller | Clerk | 21,000.00',
  '| Cy Twombly | Intern | 446.87',
  '| Di Prima | Clerk | 20,100.00',
  '| Ed Ruscha | Adviser | 9,000.00',
];
test.each(['table-with-tight-rows.pdf', 'table-with-tight-rows-and-rules.pdf'])('%s has each cell in its row and column', async (name) => {
  expect(outlineOf(await parseDocument(await bytesOf(name), name))).toEqual(amounts);
});

describe('as a list of people', () => {
  test('numbers of another country are refused, and the reason says how to name the country', async () => {
    const text = await textOf('french-national-numbers.csv');
    const { contacts, refused } = await readContactsOf(text, 'US');
    expect(contacts).toEqual([]);
    expect(refused.map(({ file_row: row, reason }) => [row, reason])).toEqual([
      [2, 'not_of_country'],
      [3, 'not_of_country'],
    ]);
    const { rows } = await sourceOf(text);
    expect(rows.map(({ state, reason }) => [state, reason?.split(':')[0]])).toEqual([
      ['failed', 'not_of_country'],
      ['failed', 'not_of_country'],
    ]);
    expect(rows[0]!.reason).toMatch(/country/);
    expect((await readContactsOf(text, 'FR')).contacts.map(({ phone }) => phone)).toEqual(['+33612345678', '+33612345679']);
  });

  test('the question of a form names the column of the numbers', async () => {
    const text = await textOf('form-question-headers.csv');
    expect((await readContactsOf(text)).contacts.map(({ phone }) => phone)).toEqual(['+14155551007']);
    expect((await sourceOf(text)).phone_column).toBe('What is your phone number?');
  });
});
