/// <reference types="vite/client" />
import { readPeople } from '../../src/contacts/spreadsheets/read-people.ts';
import { readTable } from '../../src/contacts/spreadsheets/read-table.ts';
import { decodeText } from '../../src/library/decode-text.ts';

const fixtures = import.meta.glob<string>('../fixtures/contacts/*', { query: '?url&inline', import: 'default', eager: true });

export async function bytesOf(fixture: string): Promise<Uint8Array> {
  const response = await fetch(fixtures[`../fixtures/contacts/${fixture}`]!);
  return new Uint8Array(await response.arrayBuffer());
}

export const textOf = async (fixture: string): Promise<string> => decodeText(await bytesOf(fixture)).text;

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function tableOf(text: string) {
  const { headers, delimiter, rows } = await readTable(text);
  return { headers, delimiter, rows: await collect(rows) };
}

export async function peopleOf(text: string, defaultCountry = 'US') {
  const { rows, ...found } = readPeople(await readTable(text), defaultCountry);
  const all = await collect(rows);
  return {
    ...found,
    all,
    contacts: all.flatMap((row) => ('contact' in row ? [row.contact] : [])),
    refused: all.flatMap((row) => ('refused' in row ? [{ file_row: row.file_row, ...row.refused }] : [])),
  };
}
