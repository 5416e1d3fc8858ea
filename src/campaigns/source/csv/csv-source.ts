import type { Context } from '../../../context.ts';
import { openCsv } from './open-table.ts';
import type { SourceOptions } from '../options.ts';
import type { CampaignSource } from '../campaign-source.ts';
import { missingUploadError, openUpload } from '../upload/store.ts';
import { addContacts } from '../add-contacts.ts';

/** The rows of an uploaded file, each with the contact that has its number. */
export async function openCsvSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const bytes = await openUpload(context.bindings.FILES, context.organization.id, sourceId);
  if (!bytes) throw missingUploadError();
  const source = await openCsv(bytes, options, context.organization.defaultCountry);
  return {
    columns: source.columns,
    async *batches(seen, after) {
      // The file is read from its beginning again: who is in it twice is known by what came before.
      for await (const batch of source.batches(seen)) {
        const rows = batch.filter((row) => row.row_number > (after?.row_number ?? 0));
        if (rows.length > 0) yield await addContacts(context, rows);
      }
    },
    close: source.close,
  };
}
