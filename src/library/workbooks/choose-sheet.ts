import { UnreadableFileError } from '../text/unreadable-file.ts';
import type { Workbook, WorkbookSheet } from './open-workbook.ts';
import { readSheetRecords } from './sheet-records.ts';
import { listSheetNames } from './sheet-names.ts';
import { UnknownSheetError } from './unknown-sheet.ts';

/** How many filled rows show whether a sheet is a table. */
const sampledRows = 50;

/**
 * Chooses the sheet named `name`, hidden or not, else the first visible sheet with a table: with a row that `isHeader` accepts, or two rows of several
 * cells. Without a table it is the first visible sheet with any row. Throws `UnknownSheetError`, and `UnreadableFileError` for a workbook without
 * rows.
 */
export async function chooseSheet(
  workbook: Workbook,
  name: string | undefined,
  isHeader: (cells: string[]) => boolean,
): Promise<WorkbookSheet> {
  if (name !== undefined) return findSheet(workbook.sheets, name);
  let filled: WorkbookSheet | undefined;
  for (const sheet of workbook.sheets) {
    if (sheet.isHidden) continue;
    const rows = await readFirstRows(workbook, sheet);
    if (rows.some(isHeader) || rows.filter((cells) => cells.length > 1).length > 1) return sheet;
    if (rows.length > 0) filled ??= sheet;
  }
  if (filled === undefined) throw new UnreadableFileError('The workbook is empty: no visible sheet of it has a row; add the people to it');
  return filled;
}

const toKey = (name: string): string => name.trim().normalize('NFC').toLowerCase();

/** Programs tell sheets apart without their case. */
function findSheet(sheets: WorkbookSheet[], name: string): WorkbookSheet {
  const found = sheets.find((sheet) => sheet.name === name) ?? sheets.find((sheet) => toKey(sheet.name) === toKey(name));
  if (!found) {
    const names = listSheetNames(sheets.map((sheet) => sheet.name));
    throw new UnknownSheetError(`The workbook has no sheet "${name}"; its sheets are: ${names}. Name one of them`);
  }
  return found;
}

async function readFirstRows(workbook: Workbook, sheet: WorkbookSheet): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const records of readSheetRecords(workbook, sheet)) {
    for (const { cells } of records) rows.push(cells);
    if (rows.length >= sampledRows) break;
  }
  return rows.slice(0, sampledRows);
}
