import type { Context } from '../../accounts/context.ts';
import { contactsByPhone } from '../../contacts/contacts-by-phone.ts';
import { openCsv } from '../source/open-csv.ts';
import type { SourceOptions } from '../source/options.ts';
import type { SourceRow } from '../source/read-rows.ts';
import type { CampaignSource, CampaignSourceRow } from './campaign-source.ts';
import { lostUpload, openUpload } from './upload-store.ts';

/** The rows of an uploaded file, each with the contact that has its number. */
export async function csvSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const bytes = await openUpload(context.bindings.FILES, context.organization.id, sourceId);
  if (!bytes) throw lostUpload();
  const source = await openCsv(bytes, options, context.organization.defaultCountry);
  return {
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

async function withContacts(context: Context, rows: SourceRow[]): Promise<CampaignSourceRow[]> {
  const known = await contactsByPhone(
    context,
    rows.flatMap((row) => (row.state === 'failed' ? [] : [row.phone])),
  );
  return rows.map((row) => {
    const contact = row.state === 'failed' ? undefined : known.get(row.phone);
    return { ...row, contact_id: contact?.id ?? null, variables: { ...row.variables, ...zoneOf(contact?.timezone, row) } };
  });
}

/** The file's own word about the zone goes before the contact's. */
function zoneOf(timezone: string | null | undefined, { variables }: SourceRow): { timezone?: string } {
  return typeof timezone !== 'string' || variables['timezone'] || variables['time_zone'] ? {} : { timezone };
}
