import { readTable } from '../../library/delimited-text/read-table.ts';
import { looksLikeWorkbook } from '../../library/office-files/office-kind.ts';
import { requireCertainty, type DetectedEncoding } from '../../library/text/decode-text.ts';
import { decodeTextStream } from '../../library/text/decode-text-stream.ts';
import { UncertainEncoding, UnreadableFileError } from '../../library/text/unreadable-file.ts';
import type { Context } from '../../context.ts';
import type { CampaignSource } from './campaign-source.ts';
import { hasPhoneColumn } from './columns.ts';
import { toFileTable, type FileTable } from './file-table.ts';
import type { SourceOptions } from './options.ts';
import { addContacts } from './read-rows.ts';
import { missingUploadError, openUpload } from './upload/store.ts';
import { openWorkbookTable } from './workbook/open-workbook-table.ts';

/** `source_options.sheet` is given for a file that has no sheets. */
export class SheetlessFile extends UnreadableFileError {}

/** Opens the table of an uploaded file: delimited text or a workbook, whatever its name. Null: no file has this id. Throws `UnreadableFileError`. */
export async function openFileTable(
  { bindings, organization }: Pick<Context, 'bindings' | 'organization'>,
  sourceId: string,
  options: SourceOptions,
): Promise<FileTable | null> {
  const file = await openUpload(bindings.FILES, organization.id, sourceId);
  if (!file) return null;
  if (looksLikeWorkbook(file.beginning)) return openWorkbookTable(bindings.FILES, file, options, organization.defaultCountry);
  if (!options.sheet) return openCsv(file.bytes, options, organization.defaultCountry);
  await file.close();
  throw new SheetlessFile(`${file.filename ?? 'The file'} is no workbook and has no sheets; leave source_options.sheet out`);
}

/**
 * Opens delimited text as a campaign reads it, with a small part in memory at a time. `defaultCountry` is the organization's. Throws
 * `UnreadableFileError`, whose message names what was found, for an empty file, a file without a table, and a table without a phone column.
 */
export async function openCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<FileTable> {
  let guessed: string | null = null;
  const onDetected = ({ guess }: DetectedEncoding) => {
    requireCertainty(guess);
    guessed = guess?.encoding ?? null;
  };
  const text = decodeTextStream(bytes, { encoding: options.encoding ?? undefined, onDetected });
  try {
    const table = await readTable(text, { isHeader: (cells) => hasPhoneColumn(cells, options) });
    return { ...(await toFileTable(table, options, defaultCountry)), guessedEncoding: () => guessed };
  } catch (error) {
    throw withEncoding(error, options.encoding);
  }
}

/** Most bytes mean something in a wrong encoding, too: then the headers are other words. */
function withEncoding(error: unknown, encoding: string | null | undefined): unknown {
  if (encoding && error instanceof UnreadableFileError && !(error instanceof UncertainEncoding))
    error.message += `. It was read as ${encoding}, which source_options.encoding names; leave that out if the words are wrong`;
  return error;
}

/** The rows of an uploaded file, each with the contact that has its number. */
export async function openFileSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const table = await openFileTable(context, sourceId, options);
  if (!table) throw missingUploadError();
  return {
    columns: table.columns,
    async *batches(seen, after) {
      // The file is read from its beginning again, since duplicates are found by the rows before them.
      for await (const batch of table.batches(seen)) {
        const rows = batch.filter((row) => row.row_number > (after?.row_number ?? 0));
        if (rows.length > 0) yield await addContacts(context, rows);
      }
    },
    guessedEncoding: table.guessedEncoding,
    close: table.close,
  };
}
