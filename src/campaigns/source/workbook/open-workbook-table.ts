import { readTableOfRecords } from '../../../library/delimited-text/table-of-records.ts';
import { lazyModule } from '../../../library/lazy-module.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { UnreadableFileError } from '../../../library/text/unreadable-file.ts';
import { listSheetNames } from '../../../library/workbooks/sheet-names.ts';
import { hasPhoneColumn } from '../columns.ts';
import { toFileTable, type FileTable } from '../file-table.ts';
import type { SourceOptions } from '../options.ts';
import type { UploadedFile } from '../upload/store.ts';
import { readStoredSheet } from './stored-rows.ts';

const conversion = lazyModule(() => import('./convert-workbook.ts'));

/**
 * Opens a sheet of an uploaded workbook as a campaign reads it. A workbook is unpacked from its beginning and needs its shared texts in memory, so
 * it is read once: when the campaign is checked, its rows are stored as lines, which the campaign then reads as a stream. Throws
 * `UnreadableFileError`, whose message names the file and the sheet.
 */
export async function openWorkbookTable(
  bucket: R2Bucket,
  file: UploadedFile,
  options: SourceOptions,
  defaultCountry: string,
): Promise<FileTable> {
  const filename = file.filename ?? 'The workbook';
  const stored = await openStored(bucket, file, options.sheet ?? undefined).catch((error: unknown) => {
    throw withPlace(error, filename);
  });
  const { head, records } = await readStoredSheet(stored);
  const place = `Sheet "${head.sheet}" of ${file.filename ?? 'the workbook'}`;
  try {
    const table = await readTableOfRecords(records, { isHeader: (cells) => hasPhoneColumn(cells, options) });
    return await toFileTable(table, options, defaultCountry);
  } catch (error) {
    await records.return(undefined);
    throw withPlace(error, place, otherSheets(head.sheets));
  }
}

/** The stored rows; they are made where they are missing. */
async function openStored(bucket: R2Bucket, file: UploadedFile, sheetName: string | undefined): Promise<ReadableStream<Uint8Array>> {
  const key = `${file.key}/${file.etag}/${sheetName === undefined ? 'first' : sha256Hex(sheetName)}.jsonl`;
  const known = await bucket.get(key);
  if (known) {
    await file.close();
    return known.body;
  }
  const { convertWorkbook } = await conversion();
  await convertWorkbook(bucket, file, sheetName, key);
  const made = await bucket.get(key);
  if (!made) throw new Error(`the rows of a workbook were stored under ${key} and are gone`);
  return made.body;
}

function withPlace(error: unknown, place: string, advice = ''): unknown {
  if (error instanceof UnreadableFileError) error.message = `${place}: ${error.message}${advice}`;
  return error;
}

const otherSheets = (sheets: string[]): string =>
  sheets.length > 1 ? `. The sheets of the workbook are: ${listSheetNames(sheets)}; source_options.sheet names the one to read` : '';
