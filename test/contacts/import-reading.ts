/// <reference types="vite/client" />
import { readContacts } from '../../src/contacts/import/read-contacts.ts';
import { readTable } from '../../src/library/delimited-text/read-table.ts';
import { decodeText } from '../../src/library/text/decode-text.ts';

const fixtures = import.meta.glob<string>('../fixtures/contacts/*', { query: '?url&inline', import: 'default', eager: true });

export async function readFixtureBytes(fixture: string): Promise<Uint8Array> {
  const response = await fetch(fixtures[`../fixtures/contacts/${fixture}`]!);
  return new Uint8Array(await response.arrayBuffer());
}

export const readFixtureText = async (fixture: string): Promise<string> => decodeText(await readFixtureBytes(fixture)).text;

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function readTableOf(text: string) {
  const { headers, delimiter, rows } = await readTable(text);
  return { headers, delimiter, rows: await collect(rows) };
}

export async function readContactsOf(text: string, defaultCountry = 'US') {
  const { rows, ...found } = readContacts(await readTable(text), defaultCountry);
  const all = await collect(rows);
  return {
    ...found,
    all,
    contacts: all.flatMap((row) => ('contact' in row ? [row.contact] : [])),
    refused: all.flatMap((row) => ('refused' in row ? [{ file_row: row.file_row, ...row.refused }] : [])),
  };
}
