import { locateColumn } from '../../src/contacts/import/missing-column.ts';
import { isContactHeader } from '../../src/contacts/import/read-contacts.ts';
import { readTable } from '../../src/library/delimited-text/read-table.ts';
import { readTableOfRecords, type Table } from '../../src/library/delimited-text/table-of-records.ts';
import { looksLikeWorkbook } from '../../src/library/office-files/office-kind.ts';
import { decodeText } from '../../src/library/text/decode-text.ts';
import { UnreadableFileError } from '../../src/library/text/unreadable-file.ts';
import { chooseSheet } from '../../src/library/workbooks/choose-sheet.ts';
import { requireWorkbook } from '../../src/library/workbooks/require-workbook.ts';
import { readSheetRecords } from '../../src/library/workbooks/sheet-records.ts';

interface FileOptions {
  encoding: string | undefined;
  /** The name of a workbook's sheet. */
  sheet: string | undefined;
  /** The name of the column with the phones. */
  phoneColumn?: string | undefined;
}

/** `description`: how the file was read, for people: "utf-8, separated by commas" or `sheet "Leads"`. */
interface PeopleFile {
  table: Table;
  description: string;
  /** The names of the sheets, if there are several to choose from. */
  sheets: string[];
}

const delimiterNames: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/** Opens a table of people, delimited text or a workbook. Throws `UnreadableFileError`. */
export async function openPeopleFile(bytes: Uint8Array, options: FileOptions): Promise<PeopleFile> {
  const { phoneColumn } = options;
  const isHeader = phoneColumn === undefined ? isContactHeader : (cells: string[]) => locateColumn(cells, phoneColumn) >= 0;
  if (looksLikeWorkbook(bytes)) return openWorkbookSheet(bytes, options.sheet, isHeader);
  if (options.sheet !== undefined) throw new UnreadableFileError('It is no workbook and has no sheets; leave --sheet out');
  const { text, encoding } = decodeText(bytes, options.encoding);
  const table = await readTable(text, { isHeader });
  const separatedBy = table.headers.length > 1 ? `, separated by ${delimiterNames[table.delimiter] ?? `"${table.delimiter}"`}` : '';
  return { table, description: `${encoding}${separatedBy}`, sheets: [] };
}

async function openWorkbookSheet(bytes: Uint8Array, name: string | undefined, isHeader: (cells: string[]) => boolean): Promise<PeopleFile> {
  const workbook = await requireWorkbook(bytes);
  const sheet = await chooseSheet(workbook, name, isHeader);
  const table = await readTableOfRecords(flatten(readSheetRecords(workbook, sheet)), { isHeader });
  const visible = workbook.sheets.filter(({ isHidden }) => !isHidden);
  return { table, description: `sheet "${sheet.name}"`, sheets: visible.length > 1 ? visible.map(({ name: title }) => title) : [] };
}

async function* flatten<Item>(batches: AsyncIterable<Item[]>): AsyncGenerator<Item, undefined, undefined> {
  for await (const batch of batches) yield* batch;
}
