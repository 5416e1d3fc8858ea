import type { Context } from '../../context.ts';
import { findContactsByPhone } from '../../contacts/contacts/by-phone.ts';
import type { SourceRow } from './read-rows.ts';
import type { CampaignSourceRow } from './campaign-source.ts';

/** Rows of a table, each with the contact that has its number. */
export async function addContacts(context: Context, rows: SourceRow[]): Promise<CampaignSourceRow[]> {
  const known = await findContactsByPhone(
    context,
    rows.flatMap((row) => (row.state === 'failed' ? [] : [row.phone])),
  );
  return rows.map((row) => {
    const contact = row.state === 'failed' ? undefined : known.get(row.phone);
    return { ...row, contact_id: contact?.id ?? null, variables: { ...row.variables, ...toTimezoneVariable(contact?.timezone, row) } };
  });
}

/** The table's own word about the zone goes before the contact's. */
function toTimezoneVariable(timezone: string | null | undefined, { variables }: SourceRow): { timezone?: string } {
  return typeof timezone !== 'string' || variables['timezone'] || variables['time_zone'] ? {} : { timezone };
}
