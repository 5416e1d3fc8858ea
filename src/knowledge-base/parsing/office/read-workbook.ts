import { openArchive } from '../../../library/office-files/archive.ts';
import { readTitle } from '../../../library/office-files/relationships.ts';
import { openWorkbook, type Workbook, type WorkbookSheet } from '../../../library/workbooks/open-workbook.ts';
import type { SheetCell } from '../../../library/workbooks/read-sheet.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { ReadResult } from '../document-reader.ts';
import { maxCharacters } from '../limits.ts';

/** The maximum of empty cells that are kept in a gap. */
const maxGapCells = 20;

/** Reads the sheets of a workbook as tables: cells as formatted, formulas as their results. Hidden sheets, rows and columns are left out. */
export async function readWorkbook(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const workbook = await openWorkbook(archive);
  const visible = workbook.sheets.filter(({ isHidden }) => !isHidden);
  writer.warnings.add('hidden_left_out', { count: workbook.sheets.length - visible.length });
  for (const sheet of visible) {
    // A single sheet "Sheet1" gets no heading.
    const heading = visible.length > 1 || !/^\p{L}+ ?\d+$/u.test(sheet.name) ? sheet.name : undefined;
    await writeSheet(workbook, sheet, heading, writer);
  }
  return { title: await readTitle(archive) };
}

/** Writes the rows that have content; a blank row ends a table. Wide gaps between cells are shortened. */
async function writeSheet(workbook: Workbook, sheet: WorkbookSheet, heading: string | undefined, writer: BlockWriter): Promise<void> {
  let hiddenCells = 0;
  let errors = 0;
  let lastWritten = 0;
  for await (const rows of workbook.rows(sheet, maxCharacters))
    for (const { number, cells } of rows) {
      const visible = cells.filter(({ isHidden }) => !isHidden);
      hiddenCells += cells.length - visible.length;
      errors += visible.filter(({ isError }) => isError).length;
      const shown = visible.filter(({ isError, text }) => !isError && text.trim() !== '');
      if (shown.length === 0) continue;
      if (lastWritten === 0 && heading !== undefined) writer.heading(1, heading);
      else if (lastWritten > 0 && number > lastWritten + 1) writer.endTable();
      writer.row(fillGaps(shown));
      lastWritten = number;
    }
  writer.endTable();
  writer.warnings.add('hidden_left_out', { count: hiddenCells });
  writer.warnings.add('errors_left_out', { count: errors });
}

function fillGaps(cells: SheetCell[]): string[] {
  const texts: string[] = [];
  let last = 0;
  for (const { column, text } of cells) {
    for (let gap = Math.min(column - last - 1, maxGapCells); gap > 0; gap -= 1) texts.push('');
    texts.push(text);
    last = column;
  }
  return texts;
}
