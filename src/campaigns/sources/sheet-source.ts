import type { Context } from '../../accounts/context.ts';
import type { Row } from '../../contacts/spreadsheets/read-table.ts';
import { openSheetRows } from '../../integrations/sheet/sheet-rows.ts';
import { UnreadableFile } from '../../library/decode-text.ts';
import type { SourceOptions } from '../source/options.ts';
import { readRows } from '../source/read-rows.ts';
import type { CampaignSource } from './campaign-source.ts';
import { openSheetTable } from './open-sheet-table.ts';
import { withContacts } from './with-contacts.ts';

/**
 * The rows of the sheet that an integration has selected, each with the contact that has its number. A row's number is its place below the
 * headers, so that an interrupted reading goes on without what is above.
 */
export async function sheetSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const { organization } = context;
  const sheet = await openSheetRows(context, Number(sourceId));
  if (sheet === null) throw new UnreadableFile('The integration that the sheet was read through is gone; choose another source');
  const table = await openSheetTable(sheet, options, organization.defaultCountry);
  const defaultCountry = options.default_country ?? organization.defaultCountry;
  return {
    columns: table.columns,
    async *batches(seen, after) {
      let next: number | null = (after?.row_number ?? 0) + 1;
      while (next !== null) {
        const page = await table.read(next);
        for await (const batch of readRows(inOrder(page.rows), page.columns, { defaultCountry, seen, batchRows: page.rows.length }))
          yield await withContacts(context, batch);
        next = page.next;
      }
    },
    close: async () => {},
  };
}

async function* inOrder(rows: Row[]): AsyncGenerator<Row> {
  yield* rows;
}
