import { openArchive } from '../../src/library/office-files/archive.ts';
import { openWorkbook } from '../../src/library/workbooks/open-workbook.ts';

/** The sheets of a workbook with the texts of their cells, as the service itself reads them. */
export async function readWorkbook(bytes: Uint8Array): Promise<{ name: string; rows: string[][] }[]> {
  const workbook = await openWorkbook(openArchive(bytes));
  const sheets = [];
  for (const sheet of workbook.sheets) {
    const rows: string[][] = [];
    for await (const batch of workbook.rows(sheet, 50_000_000))
      for (const { cells } of batch) {
        const texts: string[] = [];
        for (const { column, text } of cells) texts[column - 1] = text;
        rows.push(Array.from(texts, (text) => text ?? ''));
      }
    sheets.push({ name: sheet.name, rows });
  }
  return sheets;
}
