import { cleanCell } from '../delimited-text/clean-cell.ts';
import type { FileRecord } from '../delimited-text/parse-records.ts';
import { cleanText } from '../text/clean-text.ts';
import { UnreadableFileError } from '../text/unreadable-file.ts';
import { tooLarge } from '../text/unparsable-document.ts';
import type { Workbook, WorkbookSheet } from './open-workbook.ts';
import { toColumnLetters } from './column-letters.ts';
import type { SheetCell, SheetRow } from './read-sheet.ts';

/** As much text as an uploaded file may have. */
const maxCharacters = 50 << 20;
const maxRowLength = 1 << 20;
/** As many are in memory at once. */
const maxBatchCells = 5_000;
/** Empty cells left of a filled one count: a row has a text for each. */
const maxCells = 20_000_000;
const maxFormulasNamed = 5;

/**
 * The rows of a sheet as records of a table, in batches: every cell at its place, as the program would write it into a CSV, hidden rows and columns
 * included. Blank rows are skipped; a row with a formula that has no result in the file has a `problem`. Throws `UnparsableDocument` for a sheet that is too large.
 */
export async function* readSheetRecords(workbook: Workbook, sheet: WorkbookSheet): AsyncGenerator<FileRecord[], undefined, undefined> {
  let count = 0;
  let records: FileRecord[] = [];
  let batched = 0;
  for await (const rows of workbook.rows(sheet, maxCharacters))
    for (const row of rows) {
      const record = toRecord(row);
      if (record.cells.length === 0) continue;
      if (record.cells.reduce((length, cell) => length + cell.length, 0) > maxRowLength)
        throw new UnreadableFileError(
          `Row ${record.file_row} of the sheet "${sheet.name}" is longer than 1 MiB; cut the texts in its cells`,
        );
      count += record.cells.length;
      if (count > maxCells) throw tooLarge(`its sheet "${sheet.name}" has more than ${maxCells / 1e6} million cells`);
      records.push(record);
      batched += record.cells.length;
      if (batched < maxBatchCells) continue;
      yield records;
      records = [];
      batched = 0;
    }
  if (records.length > 0) yield records;
}

/** The cells up to the last one that is not blank. */
function toRecord({ number, cells }: SheetRow): FileRecord {
  const texts: string[] = [];
  const unsolved: string[] = [];
  for (const cell of cells) {
    const text = cleanCell(cleanText(toText(cell)));
    if (text === '' && !cell.isUnsolved) continue;
    while (texts.length < cell.column - 1) texts.push('');
    texts[cell.column - 1] = text;
    if (cell.isUnsolved) unsolved.push(`${toColumnLetters(cell.column)}${number}`);
  }
  return { file_row: number, cells: texts, ...(unsolved.length === 0 ? {} : { problem: describeUnsolved(unsolved) }) };
}

function describeUnsolved(places: string[]): string {
  const named = places.slice(0, maxFormulasNamed).join(', ') + (places.length > maxFormulasNamed ? ', ...' : '');
  const which = places.length === 1 ? `The formula in ${named} has` : `The formulas in ${named} have`;
  return `${which} no result in the file; open the workbook in a spreadsheet program, save it and upload it again`;
}

/** Above, a whole number with thousands separators or decimals is likelier a phone number than an amount. */
const minPhoneNumber = 1e9;

/** Grouped digits and decimals would make another number of a phone number. */
function toText({ text, number }: SheetCell): string {
  if (number === undefined || !Number.isInteger(number) || number < minPhoneNumber) return text;
  return /^\d[\d,]*(?:\.0+)?$/.test(text) && /[,.]/.test(text) ? BigInt(number).toString() : text;
}
