import type { Context } from '../../accounts/context.ts';
import { openCsv } from '../source/open-csv.ts';
import type { SourceOptions } from '../source/options.ts';
import type { CampaignSource } from './campaign-source.ts';
import { lostUpload, openUpload } from './upload-store.ts';
import { withContacts } from './with-contacts.ts';

/** The rows of an uploaded file, each with the contact that has its number. */
export async function csvSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const bytes = await openUpload(context.bindings.FILES, context.organization.id, sourceId);
  if (!bytes) throw lostUpload();
  const source = await openCsv(bytes, options, context.organization.defaultCountry);
  return {
    columns: source.columns,
    async *batches(seen, after) {
      // The file is read from its beginning again: who is in it twice is known by what came before.
      for await (const batch of source.batches(seen)) {
        const rows = batch.filter((row) => row.row_number > (after?.row_number ?? 0));
        if (rows.length > 0) yield await withContacts(context, rows);
      }
    },
    close: source.close,
  };
}
