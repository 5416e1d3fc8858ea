import type { Context } from '../../../context.ts';
import type { TableRow } from '../../../library/delimited-text/read-table.ts';
import { openSheetRows } from '../../../integrations/sheet/sheet-rows.ts';
import { UnreadableFileError } from '../../../library/text/decode-text.ts';
import type { SourceOptions } from '../options.ts';
import { readSourceRows } from '../read-rows.ts';
import type { CampaignSource } from '../campaign-source.ts';
import { openSheetTable } from './open-table.ts';
import { addContacts } from '../add-contacts.ts';

/**
 * The rows of the sheet that an integration has selected, each with the contact that has its number. A row's number is its place below the
 * headers, so that an interrupted reading goes on without what is above.
 */
export async function openSheetSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const { organization } = context;
  const sheet = await openSheetRows(context, Number(sourceId));
  if (sheet === null) throw new UnreadableFileError('The integration that the sheet was read through is gone; choose another source');
  const table = await openSheetTable(sheet, options, organization.defaultCountry);
  const defaultCountry = options.default_country ?? organization.defaultCountry;
  return {
    columns: table.columns,
    async *batches(seen, after) {
      let next: number | null = (after?.row_number ?? 0) + 1;
      while (next !== null) {
        const page = await table.read(next);
        for await (const batch of readSourceRows(toAsyncIterable(page.rows), page.columns, {
          defaultCountry,
          seen,
          batchRows: page.rows.length,
        }))
          yield await addContacts(context, batch);
        next = page.next;
      }
    },
    close: async () => {},
  };
}

async function* toAsyncIterable(rows: TableRow[]): AsyncGenerator<TableRow> {
  yield* rows;
}
