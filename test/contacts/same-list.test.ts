import { describe, expect, test } from 'vitest';
import { decodeText } from '../../src/library/text/decode-text.ts';
import { sourceOf } from '../campaigns/source-reading.ts';
import { newOrganization } from '../support/organization.ts';
import { encodeText } from '../support/encode-text.ts';
import { readContactsOf } from './import-reading.ts';

const header = ['Phone', 'First name', 'Last name', 'Email', 'Note'];
const people = [
  ['+491701234567', 'J\u00fcrgen', 'Gro\u00df', 'j@example.org', 'asked for "Tee", twice'],
  ['+33612345678', 'Zo\u00eb', 'Lef\u00e8vre', 'z@example.org', 'two\nlines; and a semicolon'],
  ['+34612345678', 'Jos\u00e9', 'N\u00fa\u00f1ez', 'n@example.org', "caf\u00e9, l'\u00e9t\u00e9"],
];
const table = (delimiter: string, title = '') =>
  title +
  [header, ...people]
    .map((cells) => cells.map((text) => (/["\n,;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(delimiter))
    .join('\r\n') +
  '\r\n';
const backslashed = table(',').replaceAll('""', '\\"');

const files: [string, Uint8Array][] = [
  ['commas in UTF-8', encodeText(table(','), 'utf-8')],
  ['commas with a mark', encodeText(`\ufeff${table(',')}`, 'utf-8')],
  ['tabs', encodeText(table('\t'), 'utf-8')],
  ['semicolons', encodeText(table(';'), 'utf-8')],
  ['bars', encodeText(table('|'), 'utf-8')],
  ['UTF-16 with a mark', encodeText(`\ufeff${table('\t')}`, 'utf-16le')],
  ['UTF-16 without one', encodeText(table('\t'), 'utf-16be')],
  ['semicolons in Windows-1252', encodeText(table(';'), 'windows-1252')],
  ['commas in Macintosh', encodeText(table(','), 'macintosh')],
  ['a title above', encodeText(table(';', 'Unsere Kunden\r\n\r\n'), 'utf-8')],
  ['quotes behind backslashes', encodeText(backslashed, 'utf-8')],
];

const contacts = people.map(([phone, first_name, last_name, email, note]) => ({
  phone,
  first_name,
  last_name,
  email,
  custom_fields: { note },
}));

describe('the same list of people is the same people', () => {
  test.each(files)('from %s', async (_, bytes) => {
    const read = await readContactsOf(decodeText(bytes).text);
    expect(read.contacts).toEqual(contacts);
    const { rows } = await sourceOf(bytes);
    expect(rows.map(({ phone, state, variables }) => ({ phone, state, ...variables }))).toEqual(
      contacts.map(({ custom_fields, ...fields }) => ({ ...fields, state: 'pending', ...custom_fields })),
    );
  });

  test('and bulk-upsert stores what was read', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/contacts/bulk-upsert', { list_name: 'A', contacts });
    expect(answer.body).toMatchObject({ created: 3, updated: 0, failed: 0 });
    for (const [, bytes] of files) {
      const read = await readContactsOf(decodeText(bytes).text);
      expect((await client.post('/contacts/bulk-upsert', { list_name: 'A', contacts: read.contacts })).body).toMatchObject({
        created: 0,
        updated: 3,
        failed: 0,
      });
    }
    const stored = (await client.get('/contacts/')).body.contacts as { phone: string; first_name: string; custom_fields: object }[];
    expect(stored.map(({ phone, first_name, custom_fields }) => [phone, first_name, custom_fields]).toSorted()).toEqual(
      contacts.map(({ phone, first_name, custom_fields }) => [phone, first_name, custom_fields]).toSorted(),
    );
  });
});
