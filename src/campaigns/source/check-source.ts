import type { Context } from '../../context.ts';
import { readList } from '../../contacts/lists/lists.ts';
import { openSheetRows } from '../../integrations/sheet/sheet-rows.ts';
import { invalid, invalidAt, notFound, ServiceError } from '../../library/errors.ts';
import { openFileTable } from './file-source.ts';
import type { SourceOptions, SourceKind } from './options.ts';
import { openSheetTable } from './sheet-source.ts';
import { toSourceIssue } from './source-issue.ts';

export interface SourceChoice {
  source_type: SourceKind;
  source_id: string;
  source_options?: SourceOptions | null | undefined;
}

const idPattern = /^[1-9]\d{0,15}$/;

/**
 * Counts the rows of a source. Throws 404 for an unknown source, 422 for a file or a sheet that cannot be read, naming the field to correct, and
 * 502 when the sheet's provider fails for the moment.
 */
export async function checkSource(
  context: Context,
  { source_type, source_id, source_options }: SourceChoice,
): Promise<{ totalRows: number }> {
  if (source_type === 'csv') return checkFile(context, source_id, source_options ?? {});
  if (source_type === 'sheet') return checkSheet(context, source_id, source_options ?? {});
  if (Object.values(source_options ?? {}).some((value) => value != null))
    throw invalidAt(
      ['body', 'source_options'],
      `source_options say how a file or a sheet is read; with source_type "${source_type}" there is none, so leave them out`,
    );
  if (!idPattern.test(source_id)) throw notFound('Contact list');
  return { totalRows: (await readList(context, Number(source_id))).contacts_count };
}

async function checkFile(context: Context, sourceId: string, options: SourceOptions): Promise<{ totalRows: number }> {
  try {
    const table = await openFileTable(context, sourceId, options);
    if (table) return { totalRows: await table.count() };
  } catch (error) {
    throw invalid([toSourceIssue(error)]);
  }
  throw new ServiceError(
    'not_found',
    'No file was uploaded for this source_id; PUT the file to the upload_url of POST /campaign/upload-url, then create the campaign',
  );
}

async function checkSheet(context: Context, sourceId: string, options: SourceOptions): Promise<{ totalRows: number }> {
  const rows = idPattern.test(sourceId) ? await openSheetRows(context, Number(sourceId)) : null;
  if (rows === null) throw notFound('Integration');
  if (options.sheet)
    throw invalidAt(
      ['body', 'source_options', 'sheet'],
      'It names a sheet of a workbook file; the sheet of an integration is selected by POST /integration/{id}/sheet/select, so leave it out',
    );
  try {
    const table = await openSheetTable(rows, options, context.organization.defaultCountry);
    return { totalRows: await table.count() };
  } catch (error) {
    throw invalid([toSourceIssue(error)]);
  }
}
