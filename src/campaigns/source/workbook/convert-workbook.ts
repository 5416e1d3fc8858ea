import { findPhoneColumns } from '../../../contacts/import/phone-columns.ts';
import { uploadStream } from '../../../http/streams/upload-stream.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';
import { chooseSheet } from '../../../library/workbooks/choose-sheet.ts';
import { requireWorkbook } from '../../../library/workbooks/require-workbook.ts';
import { readSheetRecords } from '../../../library/workbooks/sheet-records.ts';
import type { UploadedFile } from '../upload/store.ts';
import { writeStoredSheet } from './stored-rows.ts';

const mebibyte = 1 << 20;
/** The file and the texts that its cells share are in memory together. */
const maxWorkbookBytes = 25 * mebibyte;
/** Limits of the workbook's cells are far below. */
const maxStoredBytes = 1024 * mebibyte;

/**
 * Stores the rows of a sheet under `key`, complete or not at all: the same workbook gives the same bytes, so that a repetition harms nothing. The
 * record of the upload is the intent: it is deleted with all that lies below its key. Throws `UnreadableFileError`.
 */
export async function convertWorkbook(bucket: R2Bucket, file: UploadedFile, sheetName: string | undefined, key: string): Promise<void> {
  if (file.size > maxWorkbookBytes) {
    await file.close();
    throw tooLarge(`a workbook may have ${maxWorkbookBytes / mebibyte} MiB`, 'save the sheet as .csv, or split it into several campaigns');
  }
  const workbook = await requireWorkbook(await readAll(file));
  const sheet = await chooseSheet(workbook, sheetName, (cells) => findPhoneColumns(cells, []).length > 0);
  const sheets = workbook.sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const rows = writeStoredSheet({ sheet: sheet.name, sheets }, readSheetRecords(workbook, sheet));
  await uploadStream(bucket, key, rows, { httpMetadata: { contentType: 'application/x-ndjson' } }, maxStoredBytes);
}

async function readAll({ bytes, size }: UploadedFile): Promise<Uint8Array> {
  const all = new Uint8Array(size);
  let length = 0;
  for await (const chunk of bytes) {
    all.set(chunk, length);
    length += chunk.length;
  }
  return all;
}
