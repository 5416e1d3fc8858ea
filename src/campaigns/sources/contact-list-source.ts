import type { Context } from '../../accounts/context.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { walkListMembers } from '../../contacts/walk-list-members.ts';
import { UnreadableFile } from '../../library/decode-text.ts';
import type { SeenPhones } from '../source/seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from './campaign-source.ts';
import { contactVariables } from './contact-variables.ts';
import { firstOfNumber } from './first-of-number.ts';

const pageSize = 500;

/** The members of a contact list, in the order of their ids. */
export function contactListSource(context: Context, listId: number): CampaignSource {
  return {
    columns: null,
    async *batches(seen, after) {
      let { row_number: rowNumber, contact_id: contactId } = after ?? { row_number: 0, contact_id: 0 };
      for (;;) {
        const members = await walkListMembers(context, listId, contactId ?? 0, pageSize);
        if (!members) throw new UnreadableFile('The contact list was deleted; create a campaign with another one');
        // A page may be short for contacts that are being deleted, and is not the last for that.
        if (members.length === 0) return;
        yield members.map((member) => memberRow(member, (rowNumber += 1), seen));
        contactId = members.at(-1)!.id;
      }
    },
    close: async () => {},
  };
}

function memberRow(contact: ContactRecord, row_number: number, seen: SeenPhones): CampaignSourceRow {
  const row = { row_number, phone: contact.phone ?? '', contact_id: contact.id, variables: contactVariables(contact) };
  return contact.phone ? firstOfNumber(row, seen) : { ...row, state: 'failed', reason: 'no_phone: the contact has no phone number' };
}
