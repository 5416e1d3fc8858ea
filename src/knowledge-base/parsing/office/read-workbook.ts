import { openArchive } from '../../../library/office-files/archive.ts';
import { readTitle } from '../../../library/office-files/relationships.ts';
import { openWorkbook, type Workbook, type WorkbookSheet } from '../../../library/workbooks/open-workbook.ts';
import type { SheetCell } from '../../../library/workbooks/read-sheet.ts';
import { maxAlignedColumns, maxConsecutiveEmptyCells } from '../block-writer.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { ReadResult } from '../document-reader.ts';
import { maxCharacters } from '../limits.ts';
import { readPrintText } from './print-text.ts';
import { writeDrawings } from './sheet-drawings.ts';

/** The names that programs give to the only sheet of a new workbook. */
const defaultSheetName =
  /^(?:sheet|tabelle|feuil|feuille|hoja|foglio|planilha|plan|folha|blad|ark|taulukko|arkusz|list|hárok|munka|foaie|sayfa|лист|аркуш|φύλλο|ورقة|גיליון|シート|工作表|시트|แผ่น|trang tính) ?\d+$/iu;

/**
 * Reads the sheets of a workbook as tables: cells as formatted, formulas as their results; below each, the texts of its drawings; at the end, what is printed
 * above and below the pages, once. Hidden sheets, rows and columns, and comments are left out.
 */
export async function readWorkbook(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  const archive = openArchive(bytes);
  const workbook = await openWorkbook(archive, (font) => writer.warnings.add('symbols_unread', { font }));
  const all = [...workbook.sheets, ...workbook.chartSheets];
  const visible = all.filter(({ isHidden }) => !isHidden);
  writer.warnings.add('hidden_left_out', { count: all.length - visible.length });
  const printed = new Set<string>();
  for (const sheet of visible) {
    let heading = visible.length > 1 || !defaultSheetName.test(sheet.name) ? sheet.name : '';
    const beforeText = () => {
      writer.heading(1, heading);
      heading = '';
    };
    const isChartSheet = workbook.chartSheets.includes(sheet);
    if (!isChartSheet) await writeSheet(workbook, sheet, { beforeText, onPrinted: (code) => printed.add(readPrintText(code)) }, writer);
    await writeDrawings(archive, sheet.part, { isChartSheet, beforeText }, writer);
  }
  if (writer.blocks.length > 0) for (const line of printed) writer.paragraph(line);
  return { title: await readTitle(archive) };
}

interface SheetOptions {
  /** Called before the first row. */
  beforeText: () => void;
  onPrinted: (code: string) => void;
}

/** Writes the rows that have content; a blank row ends a table. Wide gaps between cells are shortened where no row above has cells. */
async function writeSheet(
  workbook: Workbook,
  sheet: WorkbookSheet,
  { beforeText, onPrinted }: SheetOptions,
  writer: BlockWriter,
): Promise<void> {
  let [hiddenCells, errors, unsolved, widest, lastWritten] = [0, 0, 0, 0, 0];
  for await (const rows of workbook.rows(sheet, maxCharacters, onPrinted))
    for (const { number, cells } of rows) {
      const visible = cells.filter(({ isHidden }) => !isHidden);
      hiddenCells += cells.length - visible.length;
      errors += visible.filter(({ isError }) => isError).length;
      unsolved += visible.filter(({ isUnsolved }) => isUnsolved).length;
      const shown = visible.filter(({ isError, text }) => !isError && text.trim() !== '');
      if (shown.length === 0) continue;
      if (lastWritten === 0) beforeText();
      else if (number > lastWritten + 1) writer.endTable();
      writer.row(fillGaps(shown, Math.min(widest, maxAlignedColumns)));
      widest = Math.max(widest, shown.at(-1)!.column);
      lastWritten = number;
    }
  writer.endTable();
  writer.warnings.add('hidden_left_out', { count: hiddenCells });
  writer.warnings.add('errors_left_out', { count: errors });
  writer.warnings.add('formulas_left_out', { count: unsolved });
}

/** `aligned`: up to this column, cells stay in their columns. */
function fillGaps(cells: SheetCell[], aligned: number): string[] {
  const texts: string[] = [];
  let last = 0;
  for (const { column, text } of cells) {
    const gap = column - last - 1;
    for (let left = column <= aligned ? gap : Math.min(gap, maxConsecutiveEmptyCells); left > 0; left -= 1) texts.push('');
    texts.push(text);
    last = column;
  }
  return texts;
}
